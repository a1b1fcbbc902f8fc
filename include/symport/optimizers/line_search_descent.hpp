// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct LineSearchDescentOptions {
  /// How small the slope along the line must have become, as a part of that at the start.
  double tolerance = 1e-6;
  Index max_trials = 30;  ///< points that a step may evaluate
};

/// Gradient descent with exact line search (Cauchy, 1847): w <- w - t g with t a minimiser of
/// L(w - t g). The first trial is J / Phi, which is the minimiser where L is quadratic along the
/// line; from there the bracketing of More and Thuente (1994) with values and slopes goes on until
/// |<g(w - t g), g>| <= tolerance J. Every step lowers the loss; where none does, nothing moves.
///
/// The learning rate is tried first where Phi <= 0 (later twice the last length). A step costs a
/// curvature and a gradient for every trial; the last one is that of the new point, which
/// need not be evaluated again: the outcome counts all trials but that one.
///
/// It differs from `CurvatureDescent` (gd with --lr auto) in that it goes to the minimiser, not
/// just to a point that is low enough: what theory assumes, at a higher price.
template <Real Scalar = double>
class LineSearchDescent final : public BasicOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit LineSearchDescent(const LineSearchDescentOptions& options = {});

  std::string_view name() const override { return "line_search"; }
  /// `rate`: the last t.
  OptimizerState<Scalar> init(Index) const override;
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  bool automatic_rate() const override { return true; }

 private:
  LineSearchDescentOptions options_;
};

}  // namespace symport
