// SPDX-License-Identifier: MIT
#include "symmetries/left_inverse.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <numeric>

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

template <Real Scalar>
constexpr double smallest_sine = std::same_as<Scalar, double> ? 1e-6 : 1e-4;

/// h in double with columns of length 1, their Gram matrix and its Cholesky factor.
struct NormalizedColumns {
  template <Real Scalar>
  explicit NormalizedColumns(MatrixIn<Scalar> h)
      : columns(h.template cast<double>()), lengths(columns.colwise().norm().transpose()) {
    for (Index j = 0; j < columns.cols(); ++j) {
      if (lengths[j] > 0.0) columns.col(j) /= lengths[j];
    }
    gram.resize(columns.cols(), columns.cols());
    multiply<double>(1.0, true, columns, false, columns, 0.0, gram);
  }

  /// Cholesky without pivoting; the smallest squared sine, or 0 when it breaks down.
  double factorize() {
    if (columns.cols() > columns.rows() || !(lengths.minCoeff() > 0.0)) return 0.0;
    cholesky.compute(gram);
    if (cholesky.info() != Eigen::Success) return 0.0;
    return cholesky.matrixLLT().diagonal().array().square().minCoeff();
  }

  Matrix columns;
  Vector lengths;
  Matrix gram;
  Eigen::LLT<Matrix> cholesky;
};

/// The pivots of Cholesky's method on a Gram matrix, down to the given squared sine.
std::vector<Index> pivots(const NormalizedColumns& h, double smallest) {
  const Index n = h.gram.cols();
  Vector rest = (h.lengths.array() > 0.0).cast<double>();  // squared distances to the span
  Matrix L(n, std::min(n, h.columns.rows()));
  std::vector<Index> chosen;
  for (Index k = 0; k < L.cols(); ++k) {
    Index pivot = 0;
    const double distance = rest.maxCoeff(&pivot);
    if (!(distance > smallest)) break;
    L.col(k) = h.gram.col(pivot) - L.leftCols(k) * L.row(pivot).head(k).transpose();
    L.col(k) /= std::sqrt(distance);
    rest -= L.col(k).cwiseAbs2();
    rest[pivot] = 0.0;
    chosen.push_back(pivot);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

template <Real Scalar>
std::vector<Index> independent_columns(MatrixIn<Scalar> h) {
  if (h.cols() == 0) return {};
  constexpr double smallest = smallest_sine<Scalar> * smallest_sine<Scalar>;
  NormalizedColumns normalized(h);
  if (normalized.factorize() > smallest) {
    std::vector<Index> all(static_cast<std::size_t>(h.cols()));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }
  return pivots(normalized, smallest);
}

template <Real Scalar>
std::optional<MatrixOf<Scalar>> left_inverse(MatrixIn<Scalar> h) {
  constexpr double smallest = smallest_sine<Scalar> * smallest_sine<Scalar>;
  NormalizedColumns normalized(h);
  const double squared_sine = normalized.factorize();
  const Index n = h.cols();
  if (!(squared_sine > smallest)) {
    // Without pivoting the sines may look smaller than they are.
    const bool independent =
        squared_sine > 0.0 && static_cast<Index>(pivots(normalized, smallest).size()) == n;
    if (!independent) return std::nullopt;
  }
  const Matrix gram_inverse = normalized.cholesky.solve(Matrix::Identity(n, n));
  Matrix inverse(n, h.rows());
  multiply<double>(1.0, false, gram_inverse, true, normalized.columns, 0.0, inverse);
  // The Gram matrix has squared the condition number. One Newton step of (G11) takes that back.
  if (std::numeric_limits<double>::epsilon() >
      0.01 * std::numeric_limits<Scalar>::epsilon() * squared_sine) {
    Matrix error = Matrix::Identity(n, n);
    multiply<double>(-1.0, false, inverse, false, normalized.columns, 1.0, error);
    const Matrix first = inverse;
    multiply<double>(1.0, false, error, false, first, 1.0, inverse);
  }
  return (normalized.lengths.cwiseInverse().asDiagonal() * inverse).template cast<Scalar>();
}

template std::vector<Index> independent_columns<float>(MatrixIn<float>);
template std::vector<Index> independent_columns<double>(MatrixIn<double>);
template std::optional<MatrixOf<float>> left_inverse<float>(MatrixIn<float>);
template std::optional<MatrixOf<double>> left_inverse<double>(MatrixIn<double>);

}  // namespace symport
