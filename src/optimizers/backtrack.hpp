// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/curvature_descent.hpp"

namespace symport {

/// Armijo's rule: the first of rate, rate shrink, rate shrink^2, ... with
/// L(w - rate u) <= L(w) - c rate <dL/dw, u>, where `slope` is that product; w <- w - rate u and
/// `last_rate` <- rate. Nothing moves when there is none. `candidate` is workspace.
template <Real Scalar>
StepOutcome backtrack(const BasicObjective<Scalar>& objective, double loss, In<Scalar> direction,
                      double slope, double rate, const CurvatureDescentOptions& options,
                      Scalar& last_rate, VectorOf<Scalar>& candidate, Out<Scalar> w) {
  double evaluations = 0.0;
  for (Index trial = 0; trial <= options.max_backtracks; ++trial) {
    candidate = w - static_cast<Scalar>(rate) * direction;
    const double next = objective.value(candidate);
    evaluations += 0.5;
    if (next <= loss - options.sufficient_decrease * rate * slope) {
      w = candidate;
      last_rate = static_cast<Scalar>(rate);
      return {true, rate, evaluations};
    }
    rate *= options.shrink;
  }
  return {false, 0.0, evaluations};
}

}  // namespace symport
