// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/round_trip.hpp"

namespace symport {

/// What steps where there is no round trip: the rule inside one, else the optimizer itself. The
/// state of a round trip begins with that of its rule.
template <Real Scalar>
const BasicOptimizer<Scalar>& rule_of(const BasicOptimizer<Scalar>& optimizer) {
  const auto* trip = dynamic_cast<const RoundTrip<Scalar>*>(&optimizer);
  return trip ? trip->rule() : optimizer;
}

}  // namespace symport
