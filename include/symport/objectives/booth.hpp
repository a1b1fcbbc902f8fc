// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/test_function.hpp"

namespace symport {

/// L(x) = (x1 + 2 x2 - 7)^2 + (2 x1 + x2 - 5)^2 (section 4.1 of the paper).
class Booth final : public TestFunction {
 public:
  std::string name() const override { return "booth"; }
  std::string formula() const override { return "(x1 + 2 x2 - 7)^2 + (2 x1 + x2 - 5)^2"; }
  std::string citation() const override;
  Vector start() const override { return Vector{{5.0, -5.0}}; }
  Vector minimizer() const override { return Vector{{1.0, 3.0}}; }
  UsualRun usual_run() const override { return {0.08, 10}; }

  Index dimension() const override { return 2; }
  double value(In<double> x) const override;
  double gradient(In<double> x, Out<double> gradient) const override;
  void hessian_vector(In<double> x, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> x, In<double> v, Out<double> result) const override;
};

}  // namespace symport
