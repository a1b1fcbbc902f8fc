// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// An optimizer whose step depends on the parameters, the gradient as a whole and its own state,
/// and on nothing else of the objective.
template <Real Scalar>
class WholeGradientOptimizer : public BasicOptimizer<Scalar> {
 public:
  /// Advances the state by one gradient and moves w. The caller advances `state.count`.
  virtual void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
                       Out<Scalar> w) const = 0;

  StepOutcome step(const BasicObjective<Scalar>&, MeasuredPoint<Scalar>& here, double learning_rate,
                   OptimizerState<Scalar>& state, Out<Scalar> w) const final {
    advance(here.gradient, learning_rate, state, w);
    ++state.count;
    return {true, learning_rate, 0.0};
  }
  void preview(const BasicObjective<Scalar>&, In<Scalar> w, In<Scalar> gradient,
               double learning_rate, const OptimizerState<Scalar>& state,
               Out<Scalar> u) const final {
    OptimizerState<Scalar> copy = state;
    VectorOf<Scalar> next = w;
    advance(gradient, learning_rate, copy, next);
    u = w - next;
  }
};

}  // namespace symport
