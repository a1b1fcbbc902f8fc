// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/objective.hpp"
#include "symport/objectives/white_gauge.hpp"

namespace symport::testing {

/// What a gauge remembers before the first step.
template <Real Scalar>
VectorOf<Scalar> no_memory(const BasicObjective<Scalar>& objective,
                           const WhiteGaugeOptions& options) {
  return VectorOf<Scalar>::Zero(objective.white_gauge()->memory_size(options));
}

/// A first step in place; returns the loss before it.
template <Real Scalar>
double step_once(const BasicObjective<Scalar>& objective, VectorOf<Scalar>& w, double theta,
                 const WhiteGaugeOptions& options) {
  VectorOf<Scalar> memory = no_memory(objective, options);
  return objective.white_gauge()->white_step(w, theta, options, memory);
}

}  // namespace symport::testing
