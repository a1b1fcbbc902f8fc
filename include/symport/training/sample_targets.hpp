// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/invalid_argument.hpp"
#include "symport/data/sample_set.hpp"
#include "symport/objectives/targets.hpp"

namespace symport {

/// What a network should answer to the samples of a set: its classes, or else its values. Throws
/// InvalidArgument on a class that is not between 0 and `largest_class`.
template <Real Scalar>
Targets<Scalar> targets_of(const SampleSet<Scalar>& samples) {
  if (samples.classes.empty()) return Targets<Scalar>(samples.Y);
  for (const Index c : samples.classes) {
    if (c < 0 || c > largest_class) {
      throw InvalidArgument("classes", std::to_string(c), "0 to " + std::to_string(largest_class));
    }
  }
  return Targets<Scalar>(samples.classes);
}

}  // namespace symport
