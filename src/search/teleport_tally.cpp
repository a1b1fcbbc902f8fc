// SPDX-License-Identifier: MIT
#include "symport/search/teleport_tally.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport {

TeleportTally::TeleportTally(std::span<const Certificate> teleports) {
  for (const Certificate& teleport : teleports) add(teleport);
}

void TeleportTally::add(const Certificate& teleport) {
  if (!teleport.accepted) {
    ++refused;
    if (!first_refusal) first_refusal = teleport;
    return;
  }
  ++accepted;
  const auto larger = [](double so_far, double value) {
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::max(so_far, value);
  };
  largest_drift = larger(largest_drift, teleport.drift);
  largest_relative_change = larger(largest_relative_change, teleport.relative_change());
  at_rounding_level += teleport.at_rounding_level() ? 1 : 0;
  const Scope& scope = teleport.scope;
  const auto narrower = [](const Scope& a, const Scope& b) {
    return a.data != b.data ? a.data > b.data : a.samples < b.samples;
  };
  if (!narrowest_scope || narrower(scope, *narrowest_scope)) narrowest_scope = scope;
  if (scope.checked > 0) {
    const double growth = scope.loss_after / scope.loss_before;
    if (!(growth <= largest_growth_elsewhere)) {
      largest_growth_elsewhere = growth;
      checked_elsewhere = scope.checked;
    }
  }
}

}  // namespace symport
