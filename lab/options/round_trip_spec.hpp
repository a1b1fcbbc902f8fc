// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "lab/options/option_table.hpp"
#include "lab/options/rate_spec.hpp"
#include "symport/objectives/white_gauge.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport::lab {

/// Round trips of a run. Unset: none, or the gauge decides.
struct RoundTripSpec {
  std::optional<GaugeLayers> layers = std::nullopt;  ///< unset: no round trips
  std::optional<double> damping = std::nullopt;
  std::optional<GaugeKernel> kernel = std::nullopt;
  std::optional<Index> refresh = std::nullopt;
  bool move = false;  ///< says that teleports stay where they go, as they do without round trips

  bool on() const { return layers.has_value(); }
};
const OptionTable<RoundTripSpec>& round_trip_options();

/// Throws OptionError for an option that matters with round trips only, where there are none, or
/// with another kernel only.
void check(const RoundTripSpec& spec);

/// `rule` with the round trips of `spec`, if it has any; what was open in `spec` is then settled,
/// and so is `rate`, which means theta and may depend on whether the run has full batches. Throws
/// OptionError where they do not fit the objective or the rule.
template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> with_round_trips(
    std::unique_ptr<BasicOptimizer<Scalar>> rule, const BasicObjective<Scalar>& objective,
    RoundTripSpec& spec, std::optional<RateSpec>& rate, bool full_batches);

/// The rate of an optimizer of round trips where none is given, otherwise `usual`.
template <Real Scalar>
double usual_rate(const BasicOptimizer<Scalar>& optimizer, double usual);

}  // namespace symport::lab
