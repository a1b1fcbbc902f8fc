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
  const double drift =
      std::isnan(teleport.drift) ? std::numeric_limits<double>::infinity() : teleport.drift;
  largest_drift = std::max(largest_drift, drift);
}

}  // namespace symport
