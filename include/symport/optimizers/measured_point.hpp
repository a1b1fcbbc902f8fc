// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"
#include "symport/objectives/mlp_states.hpp"

namespace symport {

/// What is known of an objective at a point.
template <Real Scalar>
struct MeasuredPoint {
  double loss = 0.0;
  VectorOf<Scalar> gradient;
  /// Of a network, for optimizers that use them (`BasicOptimizer::uses_states`); else empty.
  MlpStates<Scalar> states;
};

}  // namespace symport
