// SPDX-License-Identifier: MIT
#include "symport/symmetries/change_of_variables.hpp"

#include <fmt/format.h>

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

AffineVariables::AffineVariables(Matrix M, Vector b) : M_(std::move(M)), b_(std::move(b)) {
  if (M_.rows() != M_.cols() || M_.rows() != b_.size()) {
    throw InvalidArgument("M, b", fmt::format("{} x {} and {}", M_.rows(), M_.cols(), b_.size()),
                          "n x n and n");
  }
  const double condition = condition_number(M_);
  if (!(condition < 1e15)) {
    throw InvalidArgument("M", fmt::format("condition number {:.3g}", condition),
                          "an invertible matrix");
  }
  inverse_ = inverse(M_);
}

void AffineVariables::to(In<double> w, Out<double> u) const { u.noalias() = M_ * w + b_; }

void AffineVariables::from(In<double> u, Out<double> w) const { w.noalias() = inverse_ * (u - b_); }

void AffineVariables::pull(In<double>, In<double> covector, Out<double> result) const {
  result.noalias() = M_.transpose() * covector;
}

void AffineVariables::pull_inverse(In<double>, In<double> covector, Out<double> result) const {
  result.noalias() = inverse_.transpose() * covector;
}

void RosenbrockVariables::to(In<double> w, Out<double> u) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    u[i] = 10.0 * (w[i] * w[i] - w[i + 1]);
    u[i + 1] = w[i] - 1.0;
  }
}

void RosenbrockVariables::from(In<double> u, Out<double> w) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    const double x = u[i + 1] + 1.0;
    w[i] = x;
    w[i + 1] = x * x - u[i] / 10.0;
  }
}

void RosenbrockVariables::pull(In<double> w, In<double> covector, Out<double> result) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    result[i] = 20.0 * w[i] * covector[i] + covector[i + 1];
    result[i + 1] = -10.0 * covector[i];
  }
}

void RosenbrockVariables::pull_inverse(In<double> u, In<double> covector,
                                       Out<double> result) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    const double x = u[i + 1] + 1.0;
    result[i] = -0.1 * covector[i + 1];
    result[i + 1] = covector[i] + 2.0 * x * covector[i + 1];
  }
}

}  // namespace symport
