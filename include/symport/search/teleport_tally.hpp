// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

#include "symport/search/certificate.hpp"

namespace symport {

/// The outcomes of several teleports.
struct TeleportTally {
  Index accepted = 0;
  Index refused = 0;
  /// Of the accepted teleports; a drift that is not a number counts as infinite.
  double largest_drift = 0.0;
  /// Of the accepted teleports, likewise.
  double largest_relative_change = 0.0;
  Index at_rounding_level = 0;  ///< of the accepted: `Certificate::at_rounding_level`
  std::optional<Certificate> first_refusal{};

  TeleportTally() = default;
  explicit TeleportTally(std::span<const Certificate> teleports);

  void add(const Certificate& teleport);
  Index total() const { return accepted + refused; }
};

}  // namespace symport
