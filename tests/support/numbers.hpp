// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "symport/core/random.hpp"
#include "symport/core/types.hpp"

namespace symport::testing {

/// |a - b| over the larger of both; 0 when they are equal.
inline double distance(double a, double b) {
  return a == b ? 0.0 : std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

/// The same for vectors and matrices, by their norms.
template <class A, class B>
double distance(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  const double difference = (a - b).norm();
  return difference == 0.0 ? 0.0 : difference / std::max<double>(a.norm(), b.norm());
}

/// Equal in every bit that `==` sees.
inline bool identical(const Vector& a, const Vector& b) {
  return a.size() == b.size() && (a.array() == b.array()).all();
}

/// f'(0) from four values, with an error of order e^4.
template <class Function>
double central_difference(const Function& f, double e) {
  return (8.0 * (f(e) - f(-e)) - (f(2.0 * e) - f(-2.0 * e))) / (12.0 * e);
}

inline Vector random_vector(Index n, Random& random, double size = 1.0) {
  return size * random.normal_matrix(n, 1);
}

/// A symmetric positive definite matrix with eigenvalues between about 1 and n.
inline Matrix random_positive_definite(Index n, Random& random) {
  const Matrix B = random.normal_matrix(n, n);
  return B * B.transpose() / static_cast<double>(n) + Matrix::Identity(n, n);
}

}  // namespace symport::testing
