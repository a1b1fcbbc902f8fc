// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "symport/optimizers/optimizer.hpp"

namespace symport::testing {

/// A step with a loss and a gradient that a test brings along.
template <Real Scalar>
StepOutcome one_step(const std::type_identity_t<BasicOptimizer<Scalar>>& rule,
                     const std::type_identity_t<BasicObjective<Scalar>>& objective, double loss,
                     const std::type_identity_t<VectorOf<Scalar>>& gradient, double rate,
                     OptimizerState<Scalar>& state, std::type_identity_t<VectorOf<Scalar>>& w) {
  MeasuredPoint<Scalar> here{loss, gradient, {}};
  if (rule.uses_states()) rule.measure(objective, w, here);
  return rule.step(objective, here, rate, state, w);
}

}  // namespace symport::testing
