// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "symport/symmetries/change_of_variables.hpp"
#include "symport/symmetries/matrix_symmetry.hpp"

namespace symport {

/// SO(n) through a change of variables h: g.w = h^-1(g h(w)). It preserves every loss of the form
/// L(w) = |h(w)|^2 (appendix B.1 of the paper), exactly, on all of R^n.
///
/// For n = 2 the orbit is a circle, parameterised by the angle, with a `period()` of 2 pi: searches
/// see a one-dimensional problem. For n > 2 elements are exponentials of skew matrices, and the
/// inner product tr(S'T)/2 makes lengths rotation angles. Cost of one action: h, h^-1 and O(n^2).
class RotationSymmetry : public MatrixSymmetry {
 public:
  explicit RotationSymmetry(std::shared_ptr<const ChangeOfVariables> variables);

  std::string name() const override;
  Index order() const override { return variables_->dimension(); }
  bool compact() const override { return true; }
  void act(const Matrix& g, Out<double> w) const override;
  Matrix pull_back(In<double> w, In<double> covector) const override;
  void transport(const Matrix& g, In<double> w, Out<double> covector) const override;
  Matrix project(const Matrix& T) const override { return 0.5 * (T - T.transpose()); }
  double inner(const Matrix& S, const Matrix& T) const override;
  /// Uniform on SO(n).
  Matrix random_element(Random& random, double spread) const override;
  using Symmetry::orbit;
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override;

  const ChangeOfVariables& variables() const { return *variables_; }

 private:
  std::shared_ptr<const ChangeOfVariables> variables_;
};

/// x1^2 + a x2^2 by (x1, sqrt(a) x2).
RotationSymmetry ellipse_rotation(double a = 5.0);
/// Rosenbrock's function in 2 * pairs variables: SO(2 pairs).
RotationSymmetry rosenbrock_rotation(Index pairs = 1);
/// Booth's function by (x1 + 2 x2 - 7, 2 x1 + x2 - 5).
RotationSymmetry booth_rotation();
/// A user's own change of variables, see GenericVariables.
template <class Forward, class Inverse>
RotationSymmetry rotation(Index dimension, Forward h, Inverse h_inverse) {
  return RotationSymmetry(std::make_shared<GenericVariables<Forward, Inverse>>(
      dimension, std::move(h), std::move(h_inverse)));
}

/// A uniformly distributed orthogonal matrix; with determinant 1 if `special`.
Matrix random_orthogonal(Index n, Random& random, bool special);

}  // namespace symport
