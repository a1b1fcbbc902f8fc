// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/objectives/batch_objective.hpp"
#include "symport/training/batch_source.hpp"

namespace symport {

/// What is measured on a set of samples.
struct Evaluation {
  double loss = 0.0;
  double accuracy = 0.0;  ///< NaN for targets that are not classes
  double grad_sq = 0.0;   ///< NaN unless asked for
};

/// Measures a set in portions of `chunk` samples, so that memory does not grow with the set. An
/// empty set has NaN for everything.
template <Real Scalar>
Evaluation evaluate(const BatchObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                    const std::vector<Index>& samples, In<Scalar> w, bool with_gradient,
                    Index chunk = 1000);

}  // namespace symport
