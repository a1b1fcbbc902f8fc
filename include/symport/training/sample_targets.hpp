// SPDX-License-Identifier: MIT
#pragma once

#include "symport/data/sample_set.hpp"
#include "symport/objectives/targets.hpp"

namespace symport {

/// What a network should output for the samples of a set: its classes or, without any, its values.
template <Real Scalar>
Targets<Scalar> targets_of(const SampleSet<Scalar>& samples) {
  if (samples.classes.empty()) return Targets<Scalar>(samples.Y);
  return Targets<Scalar>(std::vector<int>(samples.classes.begin(), samples.classes.end()));
}

}  // namespace symport
