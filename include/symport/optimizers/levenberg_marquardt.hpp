// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/objective_bound.hpp"

namespace symport {

struct LevenbergMarquardtOptions {
  double damping = 1e-3;  ///< alpha of the first step
  Index max_size = 4096;  ///< of the dense system, which has the smaller side of A
  Index max_trials = 40;  ///< dampings that a step may try
};

/// The method of Levenberg (1944, "A method for the solution of certain non-linear problems in
/// least squares") and Marquardt (1963, "An algorithm for least-squares estimation of nonlinear
/// parameters") for losses L = |r|^2 / 2, on full batches. With A = dr/dw,
///
///   w <- w - u,   (A'A + mu I) u = A'r,   mu = alpha m (L / L_0)^1/2,
///
/// where m is the mean of the eigenvalues of A'A that can be non-zero, L_0 the loss at the first
/// step, and alpha follows Nielsen's rule: three times smaller after a step that gained what the
/// model promised, larger until there is one that gains at all. The root of the loss, which is
/// |r|, makes convergence quadratic where the residuals vanish, even where A'A is singular (Fan and
/// Yuan, 2005, "On the quadratic convergence of the Levenberg-Marquardt method without
/// nonsingularity assumption"): networks with more weights than targets are of that kind.
///
/// For networks with a loss of squares, the library's test functions, and objectives that derive
/// from GaussNewton. Costs a gradient for every output of the network, and the solution of a dense
/// system in the parameters or in outputs times samples, whichever are fewer. The learning rate is
/// not used. What is remembered is a number, which a teleport leaves as it is.
template <Real Scalar = double>
class LevenbergMarquardt final : public BasicOptimizer<Scalar>, public ObjectiveBound<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit LevenbergMarquardt(const LevenbergMarquardtOptions& options = {});

  std::string_view name() const override { return "lm"; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void require_fit(const BasicObjective<Scalar>& objective) const override;
  /// Throws InvalidArgument for an objective that does not fit.
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  bool automatic_rate() const override { return true; }

 private:
  LevenbergMarquardtOptions options_;
};

}  // namespace symport
