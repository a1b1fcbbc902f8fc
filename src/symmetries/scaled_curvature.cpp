// SPDX-License-Identifier: MIT
#include "symmetries/scaled_curvature.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/position.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

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
ScaledCurvature<Scalar>::ScaledCurvature(const MlpObjective<Scalar>& objective,
                                         MlpStates<Scalar> states)
    : objective_(objective),
      h_(std::move(states.h)),
      delta_(std::move(states.delta)),
      outputs_(std::move(states.z.back())) {
  const Mlp& network = objective.network();
  const Index p = network.layers(), n = objective.samples();
  for (Matrices* more : {&slope_, &weighted_, &product_, &RS_}) more->resize(at(p) + 1);
  h_[0] = objective.inputs();
  has_product_.resize(at(p) + 1, false);
  squares_.resize(at(p) + 1);
  gram_.resize(n, n);
  for (Index m = 1; m <= p; ++m) {
    gradient_work_ += (m == 1 ? 2.0 : 3.0) * weights(m);
    if (m < p) {
      slope_[at(m)].resize(network.width(m), n);
      network.activation().template derivative<Scalar>(1, states.z[at(m)], slope_[at(m)]);
    }
  }
  weighted_[0] = h_[0];
  parts_[0].resize(at(network.width(1)));
  std::iota(parts_[0].begin(), parts_[0].end(), Index{0});
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
void ScaledCurvature<Scalar>::set_parts(std::array<std::vector<Index>, 2> parts) {
  parts_ = std::move(parts);
  part_products_.resize(0, 0);
}

template <Real Scalar>
void ScaledCurvature<Scalar>::need_constants() {
  if (Q_.size() > 0) return;
  Q_ = slope_[1].cwiseProduct(product(1));  // (R7)
  multiply<Scalar>(2, true, h_[1].topRows(Q_.rows()), false, Q_, 0, gram_);
  cross_.resize(delta_[2].rows(), gram_.cols());
  multiply<Scalar>(1, false, delta_[2], false, gram_, 0, cross_);
  cost_ += states(0) + 2.0 * states(1) + states(2);
}

template <Real Scalar>
std::optional<std::array<Scalar, 2>> ScaledCurvature<Scalar>::levels() const {
  std::array<Scalar, 2> values{1, 1};
  for (std::size_t k = 0; k < 2; ++k) {
    if (parts_[k].empty()) continue;
    values[k] = squares_[1][parts_[k].front()];
    for (const Index i : parts_[k]) {
      if (squares_[1][i] != values[k]) return std::nullopt;
    }
  }
  return values;
}

template <Real Scalar>
void ScaledCurvature<Scalar>::add_second(MatrixIn<Scalar> W, MatrixOut<Scalar> r) {
  const Index n = Q_.cols();
  const auto values = levels();
  if (!values) {
    const MatrixOf<Scalar> R = Q_.array().colwise() / squares_[1].array();
    multiply<Scalar>(1, false, W, false, R, 1, r);
    cost_ += weights(2);
    return;
  }
  if (part_products_.size() == 0) {
    // Columns of W are brought together a few at a time, as many as stay in the cache.
    constexpr Index block = 128;
    MatrixOf<Scalar> columns(W.rows(), block), rows(block, n);
    part_products_.setZero(W.rows(), 2 * n);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto size = static_cast<Index>(parts_[k].size());
      for (Index first = 0; first < size; first += block) {
        const Index count = std::min(block, size - first);
        for (Index j = 0; j < count; ++j) {
          columns.col(j) = W.col(parts_[k][at(first + j)]);
          rows.row(j) = Q_.row(parts_[k][at(first + j)]);
        }
        multiply<Scalar>(1, false, columns.leftCols(count), false, rows.topRows(count), 1,
                         part_products_.middleCols(static_cast<Index>(k) * n, n));
      }
    }
    cost_ += weights(2);
  }
  r += part_products_.leftCols(n) / (*values)[0] + part_products_.rightCols(n) / (*values)[1];
}

template <Real Scalar>
double ScaledCurvature<Scalar>::curvature(In<Scalar> w) {
  const Mlp& network = objective_.network();
  const Index p = network.layers(), n = gram_.cols();
  cost_ = 0.0;
  need_constants();
  for (Index m = 2; m <= p; ++m) {
    // (R3): V_m x = D_m^-2 delta_m (weighted_(m-1)' x) in (N4)
    const Index inputs = network.width(m - 1);
    rs_.resize(network.width(m), 2 * n);
    rs_.leftCols(n) = product(m);
    cost_ += states(m - 1) + states(m);
    if (m == 2) {
      rs_.rightCols(n) = cross_;
    } else {
      multiply<Scalar>(2, true, weighted_[at(m - 1)].topRows(inputs), false,
                       RS_[at(m - 1)].leftCols(n), 0, gram_);
      multiply<Scalar>(1, false, delta_[at(m)], false, gram_, 0, rs_.rightCols(n));
      cost_ += states(m - 1) + states(m);
    }
    if (m < p) rs_.array().colwise() /= squares_[at(m)].array();
    if (m == 2) {
      add_second(network.weights(2, w.data()), rs_.leftCols(n));  // S_1 = 0
    } else {
      multiply<Scalar>(1, false, network.weights(m, w.data()), false, RS_[at(m - 1)], 1, rs_);
      cost_ += 2.0 * weights(m);
    }
    if (m < p) {
      RS_[at(m)].resize(network.width(m), 2 * n);
      for (const Index first : {Index{0}, n}) {
        RS_[at(m)].middleCols(first, n) = slope_[at(m)].cwiseProduct(rs_.middleCols(first, n));
      }
    }
  }
  cost_ /= gradient_work_;
  MatrixOf<Scalar> bent(network.width(p), n);
  objective_.loss().template hessian_product<Scalar>(outputs_, rs_.leftCols(n), bent);
  return (bent.array() * rs_.leftCols(n).array()).template cast<double>().sum() +
         (delta_[at(p)].array() * rs_.rightCols(n).array()).template cast<double>().sum();
}

template <Real Scalar>
double ScaledCurvature<Scalar>::weights(Index m) const {
  const Mlp& network = objective_.network();
  return static_cast<double>(network.width(m) * network.width(m - 1));
}

template <Real Scalar>
double ScaledCurvature<Scalar>::states(Index m) const {
  return static_cast<double>(objective_.network().width(m) * gram_.cols());
}

template class ScaledCurvature<float>;
template class ScaledCurvature<double>;

}  // namespace symport
