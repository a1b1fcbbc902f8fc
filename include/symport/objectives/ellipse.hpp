// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/test_function.hpp"

namespace symport {

/// L(x) = x1^2 + a x2^2, a > 0 (appendix B.1 of the paper).
class Ellipse final : public TestFunction {
 public:
  /// Throws InvalidArgument unless a is finite and > 0.
  explicit Ellipse(double a = 5.0);

  double a() const { return a_; }
  std::string name() const override { return "ellipse"; }
  std::string formula() const override;
  std::string citation() const override;
  Vector start() const override { return Vector{{2.0, 1.0}}; }
  Vector minimizer() const override { return Vector::Zero(2); }
  UsualRun usual_run() const override { return {0.02, 100}; }

  Index dimension() const override { return 2; }
  double value(In<double> x) const override;
  double gradient(In<double> x, Out<double> gradient) const override;
  void hessian_vector(In<double> x, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> x, In<double> v, Out<double> result) const override;

 private:
  double a_;
};

}  // namespace symport
