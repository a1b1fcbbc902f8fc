// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/batch_objective.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// One step of an optimizer on the bound batch: what `gradient` and `step` would do, to rounding,
/// without the gradient in memory where the optimizer allows it. Returns the loss before the step;
/// `evaluations`, if given, becomes what it cost in gradients.
template <Real Scalar>
double minibatch_step(const BatchObjective<Scalar>& objective,
                      const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                      OptimizerState<Scalar>& state, VectorOf<Scalar>& w,
                      double* evaluations = nullptr);

}  // namespace symport
