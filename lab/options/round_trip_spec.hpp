// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "lab/options/option_table.hpp"
#include "lab/options/rate_spec.hpp"
#include "symport/optimizers/optimizer.hpp"
#include "symport/optimizers/round_trip.hpp"

namespace symport::lab {

/// What `--round-trip` asks for: `usual` is `metric` for gradient descent and for factor pairs, and
/// `kept` for all else.
enum class TripKind { usual, kept, metric };
std::string_view to_string(TripKind kind);

/// Round trips of a run. Unset: none, or what is usual.
struct RoundTripSpec {
  std::optional<TripKind> kind = std::nullopt;  ///< unset: no round trips
  std::optional<double> power = std::nullopt;
  std::optional<double> damping = std::nullopt;
  std::optional<Index> refresh = std::nullopt;

  bool on() const { return kind.has_value(); }
  bool metric() const { return kind == TripKind::metric; }
};
const OptionTable<RoundTripSpec>& round_trip_options();

/// Settles the kind. Throws OptionError for an option that has no effect without round trips, or
/// with those of the other kind, and where there are teleports that stay.
void settle(RoundTripSpec& spec, const std::string& optimizer, bool network, bool teleports);

/// `rule` with the round trips of a settled `spec`, if it has any; what was open in `spec` is then
/// known, and so is `rate` where it means theta. Throws OptionError where they do not fit the
/// objective or the rule.
template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> with_round_trips(
    std::unique_ptr<BasicOptimizer<Scalar>> rule, const BasicObjective<Scalar>& objective,
    RoundTripSpec& spec, std::optional<RateSpec>& rate);

}  // namespace symport::lab
