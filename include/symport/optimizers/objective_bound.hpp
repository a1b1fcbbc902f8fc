// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// What an optimizer also derives from when it asks for more than an objective's derivatives, so
/// that it can say so before a run.
template <Real Scalar>
class ObjectiveBound {
 public:
  virtual ~ObjectiveBound() = default;
  /// Throws InvalidArgument about "optimizer" when it cannot work on this objective.
  virtual void require_fit(const BasicObjective<Scalar>& objective) const = 0;
};

/// The same for any optimizer.
template <Real Scalar>
void require_fit(const BasicOptimizer<Scalar>& optimizer, const BasicObjective<Scalar>& objective) {
  if (const auto* bound = dynamic_cast<const ObjectiveBound<Scalar>*>(&optimizer)) {
    bound->require_fit(objective);
  }
}

}  // namespace symport
