// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "symport/objectives/test_function.hpp"

namespace symport {

/// L(w) = w'Aw with A symmetric positive definite (section 5.3 of the paper). Its gradient is 2Aw,
/// its Hessian 2A.
class Quadratic final : public TestFunction {
 public:
  /// Throws InvalidArgument unless A is square, symmetric and positive definite.
  explicit Quadratic(Matrix A);
  /// Diagonal A with eigenvalues spaced geometrically from 1 to `condition`.
  static Quadratic diagonal(Index dimension, double condition);
  /// The same eigenvalues with random eigenvectors, uniform on O(n): methods that scale coordinates
  /// see no axis that is better than another.
  static Quadratic rotated(Index dimension, double condition, std::uint64_t seed);

  const Matrix& A() const { return A_; }
  std::string name() const override { return "quadratic"; }
  std::string formula() const override { return "w'Aw, A positive definite"; }
  std::string citation() const override;
  Vector start() const override { return Vector::Ones(dimension()); }
  Vector minimizer() const override { return Vector::Zero(dimension()); }
  UsualRun usual_run() const override;

  Index dimension() const override { return A_.rows(); }
  double value(In<double> w) const override;
  double gradient(In<double> w, Out<double> gradient) const override;
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override;

 private:
  Matrix A_;
  double largest_eigenvalue_;
};

}  // namespace symport
