// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
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
  /// Of the accepted teleports the one that keeps the loss on the fewest data.
  std::optional<Scope> narrowest_scope{};
  /// Of the accepted teleports, on data where their `Scope` measured it: the largest loss after
  /// over the loss before. NaN: none was measured.
  double largest_growth_elsewhere = std::numeric_limits<double>::quiet_NaN();
  Index checked_elsewhere = 0;  ///< samples of that measurement

  TeleportTally() = default;
  explicit TeleportTally(std::span<const Certificate> teleports);

  void add(const Certificate& teleport);
  Index total() const { return accepted + refused; }
};

}  // namespace symport
