// SPDX-License-Identifier: MIT
#include "core/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense.hpp"

namespace symport {

template <Real Scalar>
Lanczos<Scalar>::Lanczos(Index size, Index capacity, Map product, Map metric)
    : product_(std::move(product)),
      metric_(std::move(metric)),
      basis_(size, capacity),
      diagonal_(capacity),
      off_diagonal_(capacity),
      remainder_(size) {
  if (!metric_) return;
  images_.resize(size, capacity);
  remainder_image_.resize(size);
}

template <Real Scalar>
void Lanczos<Scalar>::measure_remainder() {
  if (metric_) metric_(remainder_.data(), remainder_image_.data());
  const auto& image = metric_ ? remainder_image_ : remainder_;
  remainder_norm_ = std::sqrt(std::max(0.0, static_cast<double>(remainder_.dot(image))));
}

template <Real Scalar>
bool Lanczos<Scalar>::begin(In<Scalar> start) {
  steps_ = 0;
  remainder_ = start;
  measure_remainder();
  return remainder_norm_ > 0.0;
}

template <Real Scalar>
void Lanczos<Scalar>::step() {
  const Index k = steps_++;
  basis_.col(k) = remainder_ / static_cast<Scalar>(remainder_norm_);
  if (metric_) images_.col(k) = remainder_image_ / static_cast<Scalar>(remainder_norm_);
  product_(images().col(k).data(), remainder_.data());
  diagonal_[k] = static_cast<double>(remainder_.dot(images().col(k)));
  // Twice is enough for orthogonality to rounding.
  for (int pass = 0; pass < 2; ++pass) {
    coefficients_.noalias() = images().leftCols(k + 1).transpose() * remainder_;
    remainder_.noalias() -= basis_.leftCols(k + 1) * coefficients_;
  }
  measure_remainder();
  off_diagonal_[k] = remainder_norm_;
}

template <Real Scalar>
void Lanczos<Scalar>::restart() {
  const Index k = steps_, n = remainder_.size();
  const auto complement = [&](VectorOf<Scalar> v) {
    for (int pass = 0; pass < 2; ++pass) {
      v -= basis_.leftCols(k) * (basis_.leftCols(k).transpose() * v);
    }
    return v;
  };
  remainder_ = complement(VectorOf<Scalar>::LinSpaced(n, Scalar(1), Scalar(2)));
  if (!(remainder_.norm() > Scalar(1e-3) * std::sqrt(Scalar(n)))) {
    // That lies in the space too; the unit vector farthest from it does not.
    Index farthest = 0;
    basis_.leftCols(k).rowwise().squaredNorm().minCoeff(&farthest);
    remainder_ = complement(VectorOf<Scalar>::Unit(n, farthest));
  }
  measure_remainder();
  off_diagonal_[k - 1] = 0.0;
}

template <Real Scalar>
double Lanczos<Scalar>::value() const {
  const auto diagonal = diagonal_.head(steps_), off_diagonal = off_diagonal_.head(steps_ - 1);
  if (!diagonal.allFinite() || !off_diagonal.allFinite()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return tridiagonal_eigenvalues(diagonal, off_diagonal)[steps_ - 1];
}

template <Real Scalar>
Matrix Lanczos<Scalar>::tridiagonal() const {
  Matrix T = diagonal_.head(steps_).asDiagonal();
  T.diagonal(-1) = off_diagonal_.head(steps_ - 1);  // the lower triangle is what is read
  return T;
}

template <Real Scalar>
typename Lanczos<Scalar>::Ritz Lanczos<Scalar>::ritz() const {
  const Matrix T = tridiagonal();
  if (!T.allFinite()) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  const SymmetricEigen eigen = symmetric_eigen(T);
  const Index last = steps_ - 1;
  return {eigen.values[last], remainder_norm_ * std::abs(eigen.vectors(last, last))};
}

template <Real Scalar>
VectorOf<Scalar> Lanczos<Scalar>::vector() const {
  const SymmetricEigen eigen = symmetric_eigen(tridiagonal());
  return basis_.leftCols(steps_) * eigen.vectors.col(steps_ - 1).template cast<Scalar>();
}

template class Lanczos<float>;
template class Lanczos<double>;

}  // namespace symport
