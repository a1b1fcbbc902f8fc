// SPDX-License-Identifier: MIT
#include "symmetries/scaled_curvature.hpp"

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

std::size_t at(Index m) { return static_cast<std::size_t>(m); }

}  // namespace

template <Real Scalar>
ScaledCurvature<Scalar>::ScaledCurvature(const MlpObjective<Scalar>& objective)
    : objective_(objective), outputs_(objective.z(objective.network().layers())) {
  const Mlp& network = objective.network();
  const Index p = network.layers(), n = objective.samples();
  for (Matrices* states : {&h_, &slope_, &delta_, &RS_}) states->resize(at(p) + 1);
  double work = 0.0, gradient = 0.0;
  for (Index m = 1; m <= p; ++m) {
    const auto product = static_cast<double>(network.width(m) * network.width(m - 1));
    gradient += (m == 1 ? 2.0 : 3.0) * product;
    work += m == 1 ? 0.0 : m == 2 ? product : 2.0 * product;
    // Two Gram matrices and two products with them per layer.
    work += static_cast<double>((network.width(m) + network.width(m - 1)) * n * (m == 1 ? 1 : 2));
    h_[at(m - 1)] = objective.h(m - 1);
    delta_[at(m)] = objective.delta(m);
    if (m < p) {
      slope_[at(m)].resize(network.width(m), n);
      network.activation().template derivative<Scalar>(1, objective.z(m), slope_[at(m)]);
    }
  }
  cost_ = work / gradient;
}

template <Real Scalar>
double ScaledCurvature<Scalar>::operator()(In<Scalar> w, const std::vector<Vector>& scales) {
  const Mlp& network = objective_.network();
  const Index p = network.layers(), n = delta_[1].cols();
  MatrixOf<Scalar> weighted, gram(n, n), rs, product;
  for (Index m = 1; m <= p; ++m) {
    // weighted = D_(m-1)^2 h_(m-1): V_m x = D_m^-2 delta_m (weighted' x).
    weighted = h_[at(m - 1)];
    const Index inputs = network.width(m - 1);
    if (m > 1) {
      const VectorOf<Scalar> squares = scales[at(m - 2)].cwiseAbs2().template cast<Scalar>();
      weighted.topRows(inputs).array().colwise() *= squares.array();
    }
    rs.resize(network.width(m), 2 * n);
    multiply<Scalar>(1, true, weighted, false, h_[at(m - 1)], 0, gram);
    multiply<Scalar>(1, false, delta_[at(m)], false, gram, 0, rs.leftCols(n));
    if (m == 1) {
      rs.rightCols(n).setZero();
    } else {
      multiply<Scalar>(2, true, weighted.topRows(inputs), false, RS_[at(m - 1)].leftCols(n), 0,
                       gram);
      multiply<Scalar>(1, false, delta_[at(m)], false, gram, 0, rs.rightCols(n));
    }
    if (m < p) {
      const VectorOf<Scalar> squares = scales[at(m - 1)].cwiseAbs2().template cast<Scalar>();
      rs.array().colwise() /= squares.array();
    }
    if (m > 1) {
      const Index columns = m == 2 ? n : 2 * n;  // S_1 = 0
      multiply<Scalar>(1, false, network.weights(m, w.data()), false,
                       RS_[at(m - 1)].leftCols(columns), 1, rs.leftCols(columns));
    }
    if (m < p) {
      RS_[at(m)].resize(network.width(m), 2 * n);
      RS_[at(m)].leftCols(n) = slope_[at(m)].cwiseProduct(rs.leftCols(n));
      RS_[at(m)].rightCols(n) = slope_[at(m)].cwiseProduct(rs.rightCols(n));
    }
  }
  product.resize(network.width(p), n);
  objective_.loss().template hessian_product<Scalar>(outputs_, rs.leftCols(n), product);
  return (product.array() * rs.leftCols(n).array()).template cast<double>().sum() +
         (delta_[at(p)].array() * rs.rightCols(n).array()).template cast<double>().sum();
}

template class ScaledCurvature<float>;
template class ScaledCurvature<double>;

}  // namespace symport
