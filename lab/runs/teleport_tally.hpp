// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "symport/core/types.hpp"
#include "symport/search/certificate.hpp"

namespace symport::lab {

/// What became of several teleports.
struct TeleportTally {
  Index accepted = 0;
  Index refused = 0;
  /// Of the accepted teleports; a drift that is not a number counts as infinite.
  double largest_drift = 0.0;
  std::optional<Certificate> first_refusal{};

  TeleportTally() = default;
  explicit TeleportTally(std::span<const Certificate> teleports) {
    for (const Certificate& teleport : teleports) add(teleport);
  }

  void add(const Certificate& teleport) {
    if (teleport.accepted) {
      ++accepted;
      constexpr double infinity = std::numeric_limits<double>::infinity();
      largest_drift =
          std::max(largest_drift, std::isnan(teleport.drift) ? infinity : teleport.drift);
    } else {
      ++refused;
      if (!first_refusal) first_refusal = teleport;
    }
  }
  Index total() const { return accepted + refused; }
};

}  // namespace symport::lab
