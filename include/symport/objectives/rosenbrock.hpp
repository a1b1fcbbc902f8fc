// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/test_function.hpp"

namespace symport {

/// Rosenbrock's function in 2N variables, one term for each pair:
///   L(x) = sum over pairs of 100 (x1^2 - x2)^2 + (x1 - 1)^2.
/// The paper's is N = 1 (section 4.1).
class Rosenbrock final : public TestFunction {
 public:
  /// Throws InvalidArgument unless pairs >= 1.
  explicit Rosenbrock(Index pairs = 1);

  std::string name() const override { return "rosenbrock"; }
  std::string formula() const override;
  std::string citation() const override;
  /// (-1, -1), the paper's start, in each pair; from the second pair on shifted a little, so that
  /// the pairs differ.
  Vector start() const override;
  Vector minimizer() const override { return Vector::Ones(dimension()); }
  UsualRun usual_run() const override { return {1e-3, 1000}; }

  Index dimension() const override { return 2 * pairs_; }
  double value(In<double> x) const override;
  double gradient(In<double> x, Out<double> gradient) const override;
  void hessian_vector(In<double> x, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> x, In<double> v, Out<double> result) const override;

 private:
  Index pairs_;
};

}  // namespace symport
