// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/objective_bound.hpp"

namespace symport {

struct NaturalGradientOptions {
  /// mu in units of the mean of the eigenvalues of F that can be non-zero; the first one where it
  /// adapts.
  double damping = 1e-3;
  /// The damping follows what the last step gained, and the step is the whole (F + mu)^-1 g. False:
  /// the damping stays, the step is the learning rate times that, and nothing is checked.
  bool adaptive = true;
  Index max_size = 4096;  ///< of the dense system, see LevenbergMarquardt
  Index max_trials = 40;  ///< dampings that an adaptive step may try
};

/// Natural gradient descent (Amari, 1998, "Natural gradient works efficiently in learning"), exact:
///
///   w <- w - u,   (F + mu I) u = dL/dw,
///
/// with F the Fisher information of the model's outputs on the batch, averaged over what the model
/// predicts, not over the labels: a Gaussian of unit variance for losses of squares, the softmax
/// for cross-entropy. F = A'A of GaussNewton, times the factor of the loss. The system is solved in
/// the parameters or in outputs times samples, whichever are fewer, where u = A'(AA' + mu I)^-1 c.
///
/// For networks with any loss, and what LevenbergMarquardt takes; there the two differ in the
/// damping alone. With an adaptive damping (Nielsen's rule, see there) it is for full batches, and
/// the learning rate is not used.
template <Real Scalar = double>
class NaturalGradient final : public BasicOptimizer<Scalar>, public ObjectiveBound<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit NaturalGradient(const NaturalGradientOptions& options = {});

  std::string_view name() const override { return "natural_gradient"; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void require_fit(const BasicObjective<Scalar>& objective) const override;
  /// Throws InvalidArgument for an objective that does not fit.
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  bool automatic_rate() const override { return options_.adaptive; }

 private:
  NaturalGradientOptions options_;
};

}  // namespace symport
