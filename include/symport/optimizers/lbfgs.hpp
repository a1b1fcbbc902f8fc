// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct LbfgsOptions {
  Index memory = 10;                  ///< pairs (s, y) that are remembered
  double sufficient_decrease = 1e-3;  ///< the first condition of Wolfe
  double curvature = 0.9;             ///< the second, in its strong form
  Index max_trials = 20;              ///< points that a line search may evaluate
  double first_length = 1.0;          ///< |w - w'| of the first trial, where nothing is known yet
};

/// L-BFGS (Liu and Nocedal, 1989, "On the limited memory BFGS method for large scale
/// optimization") for full batches. With s = w' - w and y = g' - g of the last steps, oldest first,
///
///   H <- (s'y / y'y) I of the last pair,   H <- (I - s y'/s'y) H (I - y s'/s'y) + s s'/s'y,
///
/// the step is w - t H g, with t from the line search of More and Thuente (1994), which begins at
/// t = 1 and ends where both conditions of Wolfe hold in the strong form: then s'y > 0 and H stays
/// positive definite. A pair without s'y > 0 is left out. Where no step along -H g lowers the loss,
/// the pairs are dropped and -g is tried; where that fails too, nothing moves.
///
/// The learning rate is not used. A step evaluates a gradient at every trial, most often one; the
/// last of them is that of the new point, which `measure` returns without evaluating it again: the
/// outcome counts all trials but that one.
///
/// At a teleport, s moves as a tangent and y as a cotangent (`StatePolicy::transport`): s'y stays
/// what it was, and where the action is linear the new pairs are exactly those of the teleported
/// steps. Where the parameters have moved and the pairs have not (`keep`), they describe another
/// place and are dropped: the next step is one of gradient descent.
///
/// Why not LBFGS++: its solver owns the loop and its history is private, so that a run could
/// neither be resumed to the same bits nor teleported, and it throws where a line search fails.
template <Real Scalar = double>
class Lbfgs final : public BasicOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit Lbfgs(const LbfgsOptions& options = {});

  std::string_view name() const override { return "lbfgs"; }
  /// `steps` (s) and `differences` (y), each a ring, `point` (where the pairs belong) and `pairs`
  /// (how many there are, and which is the newest).
  OptimizerState<Scalar> init(Index dimension) const override;
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  bool automatic_rate() const override { return true; }
  const LbfgsOptions& options() const { return options_; }

 private:
  /// -H g.
  VectorOf<Scalar> direction(const OptimizerState<Scalar>& state, In<Scalar> gradient) const;
  void remember(In<Scalar> s, In<Scalar> y, OptimizerState<Scalar>& state) const;

  LbfgsOptions options_;
};

}  // namespace symport
