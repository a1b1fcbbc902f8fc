// SPDX-License-Identifier: MIT
#include "optimizers/input_gauge.hpp"

#include <cmath>
#include <limits>

#include "core/cholesky.hpp"
#include "core/symmetric_root.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

constexpr Index smallest_full_block = 512;
/// Of the sums, a step.
constexpr double fading = 0.95;

}  // namespace

InputBlocks::InputBlocks(Index outputs, Index d) : inputs(d) {
  const Index most = std::max(outputs, smallest_full_block);
  count = (d + most - 1) / most;
  size = (d + count - 1) / count;
}

Index InputBlocks::numbers() const {
  Index sum = 1;
  for (Index b = 0; b < count; ++b) sum += 2 * width(b) * width(b);
  return sum;
}

template <Real Scalar>
typename InputGauge<Scalar>::Weights InputGauge<Scalar>::sums(Index b) const {
  // All blocks before this one are full.
  const Index s = blocks_.size, width = blocks_.width(b);
  return {numbers_ + 1 + 2 * b * s * s, width, width};
}

template <Real Scalar>
typename InputGauge<Scalar>::Weights InputGauge<Scalar>::t(Index b) const {
  const Index width = blocks_.width(b);
  return {sums(b).data() + width * width, width, width};
}

template <Real Scalar>
void InputGauge<Scalar>::begin() {
  rows() = Scalar(0);
  for (Index b = 0; b < blocks_.count; ++b) {
    sums(b).setZero();
    t(b).setIdentity();
  }
}

template <Real Scalar>
void InputGauge<Scalar>::see(const Eigen::Ref<const MatrixOf<Scalar>>& h) {
  const auto keep = static_cast<Scalar>(fading);
  const bool finite = h.allFinite();
  rows() *= keep;
  if (finite) rows() += static_cast<Scalar>((h.array() != Scalar(0)).colwise().any().count());
  MatrixOf<Scalar> square;
  for (Index b = 0; b < blocks_.count; ++b) {
    auto S = sums(b);
    if (!finite) {
      S *= keep;
      continue;
    }
    square.resize(S.rows(), S.cols());
    row_gram<Scalar>(h.middleRows(blocks_.first(b), blocks_.width(b)), square);
    S = keep * S + square;
  }
}

template <Real Scalar>
void InputGauge<Scalar>::renew(const GaugeRule& rule, const std::vector<Weights>& moving) {
  if (!(rows() > Scalar(0))) return;
  const auto n = static_cast<double>(rows()), s = static_cast<double>(blocks_.size);
  constexpr double epsilon = std::numeric_limits<Scalar>::epsilon();
  const double exponent = rule.squared ? -2.0 * rule.power : -rule.power;
  const auto count = static_cast<std::size_t>(blocks_.count);
  std::vector<MatrixOf<Scalar>> vectors(count);
  std::vector<VectorOf<double>> powers(count);
  double wanted = 0.0, found = 0.0;  // tr(A) and tr(A g^2)
  for (Index b = 0; b < blocks_.count; ++b) {
    const auto i = static_cast<std::size_t>(b);
    const Scalar share_of_rows = static_cast<Scalar>(1.0 / n);
    const MatrixOf<Scalar> A = share_of_rows * sums(b);
    const double mean = static_cast<double>(A.trace()) / s;
    if (!(mean > 0.0 && std::isfinite(mean))) continue;
    // In units of the mean, with lambda added: bounded, and well away from singular.
    const double ridge = std::max(rule.damping + s / n, s * epsilon);
    vectors[i] = static_cast<Scalar>(1.0 / mean) * A;
    vectors[i].diagonal().array() += static_cast<Scalar>(ridge);
    VectorOf<Scalar> values;
    if (!symmetric_eigenvectors<Scalar>(vectors[i], values)) return;
    powers[i] = (values.template cast<double>().array().max(1e-30) * mean).pow(exponent);
    // The eigenvectors are those of A, whose eigenvalues are mean * (value - ridge).
    const Vector squares =
        (mean * (values.template cast<double>().array() - ridge)).max(0.0).matrix();
    const Vector gains = rule.squared ? powers[i] : Vector(powers[i].array().square());
    wanted += squares.sum();
    found += squares.dot(gains);
  }
  double c = rule.kept && found > 0.0 ? std::sqrt(wanted / found) : 1.0;
  if (rule.squared) c *= c;
  MatrixOf<Scalar> fresh, old, moved;
  for (Index b = 0; b < blocks_.count; ++b) {
    const auto i = static_cast<std::size_t>(b);
    if (vectors[i].size() == 0) continue;
    const MatrixOf<Scalar> scaled =
        vectors[i] * (c * powers[i]).template cast<Scalar>().asDiagonal();
    fresh.resize(scaled.rows(), scaled.rows());
    multiply<Scalar>(1, false, scaled, true, vectors[i], 0, fresh);
    old = t(b);
    if (!moving.empty() && cholesky<Scalar>(old)) {
      for (Weights X : moving) {
        auto part = X.middleCols(blocks_.first(b), blocks_.width(b));
        divide_by_cholesky<Scalar>(old, part);
        moved = part;
        multiply<Scalar>(1, false, moved, false, fresh, 0, part);
      }
    }
    t(b) = fresh;
  }
}

template <Real Scalar>
void InputGauge<Scalar>::times(Scalar alpha, MatrixIn<Scalar> X, Scalar beta,
                               MatrixOut<Scalar> Y) const {
  for (Index b = 0; b < blocks_.count; ++b) {
    const Index first = blocks_.first(b), width = blocks_.width(b);
    multiply<Scalar>(alpha, false, X.middleCols(first, width), false, t(b), beta,
                     Y.middleCols(first, width));
  }
}

template <Real Scalar>
void InputGauge<Scalar>::of(MatrixIn<Scalar> h, MatrixOut<Scalar> Y) const {
  for (Index b = 0; b < blocks_.count; ++b) {
    const Index first = blocks_.first(b), width = blocks_.width(b);
    multiply<Scalar>(1, false, t(b), false, h.middleRows(first, width), 0,
                     Y.middleRows(first, width));
  }
}

template class InputGauge<float>;
template class InputGauge<double>;

}  // namespace symport
