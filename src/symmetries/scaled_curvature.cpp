// SPDX-License-Identifier: MIT
#include "symmetries/scaled_curvature.hpp"

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

std::size_t at(Index m) { return static_cast<std::size_t>(m); }

/// The diagonal of A B' in double.
template <Real Scalar>
Vector row_products(const MatrixOf<Scalar>& A, MatrixIn<Scalar> B) {
  Vector sums = Vector::Zero(B.rows());
  for (Index j = 0; j < B.cols(); ++j) {
    sums += A.col(j).cwiseProduct(B.col(j)).template cast<double>();
  }
  return sums;
}

}  // namespace

template <Real Scalar>
ScaledCurvature<Scalar>::ScaledCurvature(const MlpObjective<Scalar>& objective)
    : objective_(objective), outputs_(objective.z(objective.network().layers())) {
  const Mlp& network = objective.network();
  const Index p = network.layers(), n = objective.samples();
  for (Matrices* states : {&h_, &slope_, &delta_, &weighted_, &product_, &RS_}) {
    states->resize(at(p) + 1);
  }
  has_product_.resize(at(p) + 1, false);
  squares_.resize(at(p) + 1);
  gram_.resize(n, n);
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
  weighted_[0] = h_[0];
  for (Index m = 1; m < p; ++m) set_scales(m, Vector::Ones(network.width(m)));
}

template <Real Scalar>
void ScaledCurvature<Scalar>::set_scales(Index m, const Vector& s) {
  squares_[at(m)] = s.cwiseAbs2().template cast<Scalar>();
  weighted_[at(m)] = h_[at(m)];
  weighted_[at(m)].topRows(s.size()).array().colwise() *= squares_[at(m)].array();
  has_product_[at(m + 1)] = false;
}

template <Real Scalar>
const MatrixOf<Scalar>& ScaledCurvature<Scalar>::product(Index m) {
  if (!has_product_[at(m)]) {
    multiply<Scalar>(1, true, weighted_[at(m - 1)], false, h_[at(m - 1)], 0, gram_);
    product_[at(m)].resize(delta_[at(m)].rows(), gram_.cols());
    multiply<Scalar>(1, false, delta_[at(m)], false, gram_, 0, product_[at(m)]);
    has_product_[at(m)] = true;
  }
  return product_[at(m)];
}

template <Real Scalar>
Vector ScaledCurvature<Scalar>::row_energies(Index m) {
  return row_products<Scalar>(product(m), delta_[at(m)]);
}

template <Real Scalar>
Vector ScaledCurvature<Scalar>::column_energies(Index m, bool plain) const {
  const Index p = objective_.network().layers(), n = gram_.cols();
  MatrixOf<Scalar> scaled = delta_[at(m + 1)], gram(n, n), product(h_[at(m)].rows(), n);
  if (!plain && m + 1 < p) scaled.array().colwise() /= squares_[at(m + 1)].array();
  multiply<Scalar>(1, true, delta_[at(m + 1)], false, scaled, 0, gram);
  multiply<Scalar>(1, false, h_[at(m)], false, gram, 0, product);
  return row_products<Scalar>(product, h_[at(m)]).head(objective_.network().width(m));
}

template <Real Scalar>
double ScaledCurvature<Scalar>::last_bias_energy() const {
  const Mlp& network = objective_.network();
  if (!network.biases()) return 0.0;
  return delta_[at(network.layers())].template cast<double>().rowwise().sum().squaredNorm();
}

template <Real Scalar>
double ScaledCurvature<Scalar>::curvature(In<Scalar> w) {
  const Mlp& network = objective_.network();
  const Index p = network.layers(), n = gram_.cols();
  for (Index m = 1; m <= p; ++m) {
    // V_m x = D_m^-2 delta_m (weighted_(m-1)' x)
    const Index inputs = network.width(m - 1);
    rs_.resize(network.width(m), 2 * n);
    rs_.leftCols(n) = product(m);
    if (m > 1) {
      multiply<Scalar>(2, true, weighted_[at(m - 1)].topRows(inputs), false,
                       RS_[at(m - 1)].leftCols(n), 0, gram_);
      multiply<Scalar>(1, false, delta_[at(m)], false, gram_, 0, rs_.rightCols(n));
    }
    const Index columns = m == 1 ? n : 2 * n;  // s_1 = 0
    if (m < p) rs_.leftCols(columns).array().colwise() /= squares_[at(m)].array();
    if (m > 1) {
      const Index filled = m == 2 ? n : 2 * n;  // S_1 = 0
      multiply<Scalar>(1, false, network.weights(m, w.data()), false,
                       RS_[at(m - 1)].leftCols(filled), 1, rs_.leftCols(filled));
    }
    if (m < p) {
      RS_[at(m)].resize(network.width(m), 2 * n);
      for (Index first = 0; first < columns; first += n) {
        RS_[at(m)].middleCols(first, n) = slope_[at(m)].cwiseProduct(rs_.middleCols(first, n));
      }
    }
  }
  MatrixOf<Scalar> bent(network.width(p), n);
  objective_.loss().template hessian_product<Scalar>(outputs_, rs_.leftCols(n), bent);
  return (bent.array() * rs_.leftCols(n).array()).template cast<double>().sum() +
         (delta_[at(p)].array() * rs_.rightCols(n).array()).template cast<double>().sum();
}

template class ScaledCurvature<float>;
template class ScaledCurvature<double>;

}  // namespace symport
