// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/options/arguments.hpp"

namespace symport::lab::compare {

/// What follows the plus where every step is a round trip.
inline constexpr const char* round_trip_kind = "round-trip";

/// One way to optimize, in the form of `--method`:
///
///   OPTIMIZER[:lr=RATE|auto][+TELEPORT:WHEN[,OPTION=VALUE...]]
///
/// or OPTIMIZER[:lr=THETA|auto]+round-trip[:OPTION=VALUE...], whose options are length (kept,
/// metric), power, damping and refresh.
///
/// TELEPORT is `teleport` (the problem's usual symmetry), `random` (a random element of the group,
/// accepted without comparison), or the name of a symmetry. WHEN is `at=5`, `at=0/10/20`,
/// `every=50`, `every=100+99`; the options are those of runs under their own names.
struct Method {
  std::string text;       ///< as it was written: its name
  std::string optimizer;  ///< with its options: "gd", "gd:lr=auto"
  std::string kind{};     ///< TELEPORT; empty: never
  Arguments options{};    ///< what it sets in a run: optimizer, lr, teleport, search, ...

  bool teleports() const { return !kind.empty(); }
  bool round_trips() const { return kind == round_trip_kind; }
  bool has_own_rate() const { return options.has("lr"); }
};

/// Throws UsageError, naming the method, for an unknown name or option (the nearest is suggested),
/// a malformed value, or a teleport without a schedule.
Method parse_method(const std::string& text);

/// The methods of a comparison, each once: the plain ones, then the plain form of every optimizer
/// that is there with teleports only (without it little could be said about them), then those that
/// teleport.
std::vector<Method> with_baselines(const std::vector<Method>& methods);

}  // namespace symport::lab::compare
