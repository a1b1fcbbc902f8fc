// SPDX-License-Identifier: MIT
#include "lab/options/round_trip_spec.hpp"

#include "symport/optimizers/metric_round_trip.hpp"

namespace symport::lab {

namespace {

constexpr const char* group = "Round trips";

Codec<double> as_positive_or_zero() {
  return {[](const std::string& text) { return text == "0" ? 0.0 : as_positive().parse(text); },
          [](const double& damping) { return ConfigValue(damping); }};
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> metric_trips(
    std::shared_ptr<const BasicOptimizer<Scalar>> rule, const BasicObjective<Scalar>& objective,
    RoundTripSpec& spec, std::optional<RateSpec>& rate) {
  const MetricRoundTripOptions options{.damping = spec.damping};
  std::unique_ptr<MetricRoundTrip<Scalar>> trip;
  if (auto measured = std::dynamic_pointer_cast<const CurvatureDescent<Scalar>>(rule)) {
    trip = std::make_unique<MetricRoundTrip<Scalar>>(std::move(measured), options);
  } else if (auto plain = std::dynamic_pointer_cast<const FirstOrderOptimizer<Scalar>>(rule)) {
    trip = std::make_unique<MetricRoundTrip<Scalar>>(std::move(plain), options);
  } else {
    throw OptionError("optimizer", fmt::format("'{}' takes no metric round trips, allowed is gd, "
                                               "momentum or nesterov",
                                               rule->name()));
  }
  trip->require_fit(objective);
  spec.damping = trip->damping(objective);
  if (!rate) rate = RateSpec{LearningRate(trip->usual_rate(objective))};
  return trip;
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> kept_trips(
    std::shared_ptr<const BasicOptimizer<Scalar>> rule, RoundTripSpec& spec) {
  auto first_order = std::dynamic_pointer_cast<const FirstOrderOptimizer<Scalar>>(rule);
  if (!first_order) {
    throw OptionError("optimizer", fmt::format("'{}' takes no round trips: its step depends on "
                                               "more than the gradient and what it remembers",
                                               rule->name()));
  }
  RoundTripOptions options{.power = spec.power};
  options.damping = spec.damping.value_or(options.damping);
  options.refresh = spec.refresh.value_or(options.refresh);
  auto trip = std::make_unique<RoundTrip<Scalar>>(std::move(first_order), options);
  spec.power = trip->power();
  spec.damping = options.damping;
  spec.refresh = options.refresh;
  return trip;
}

}  // namespace

std::string_view to_string(TripKind kind) {
  return kind == TripKind::usual ? "usual" : kind == TripKind::kept ? "kept" : "metric";
}

const OptionTable<RoundTripSpec>& round_trip_options() {
  using S = RoundTripSpec;
  const RoundTripOptions usual;
  static const OptionTable<S> table(
      group,
      {row({.name = "round-trip",
            .value = "kept|metric|usual",
            .help = "every step is taken in a borrowed gauge and comes back. kept: by any "
                    "first-order optimizer, whose --lr keeps its meaning. metric: by gd, momentum "
                    "or nesterov, with --lr theta, which has no unit (default 0.3; factorization "
                    "0.25; divided by 10 with momentum). Alone: metric for gd and factorizations, "
                    "else kept",
            .implied = "usual"},
           &S::kind, as_choice<TripKind>({TripKind::kept, TripKind::metric, TripKind::usual})),
       row({"power", "P",
            "of kept round trips: 0.5 makes the inputs of a layer white, 0 leaves them alone; "
            "inputs of the network are always left alone (default 0.25; 0.125 for gd, momentum "
            "and nesterov)"},
           &S::power, as_positive_or_zero()),
       row({"damping", "D",
            "as a part of the mean eigenvalue: larger is nearer to plain steps (default 0.1; "
            "factorization 0.001, falling with the loss)"},
           &S::damping, as_positive_or_zero()),
       row({"refresh", "K",
            fmt::format("steps from one gauge of kept round trips to the next (default {})",
                        usual.refresh)},
           &S::refresh, as_whole(1))});
  return table;
}

void settle(RoundTripSpec& spec, const std::string& optimizer, bool network, bool teleports) {
  const auto need = [&](bool given, const char* option) {
    if (given && !spec.on()) throw OptionError(option, "needs --round-trip");
  };
  need(spec.power.has_value(), "power");
  need(spec.damping.has_value(), "damping");
  need(spec.refresh.has_value(), "refresh");
  if (!spec.on()) return;
  if (teleports) {
    throw OptionError("teleport", "cannot be combined with --round-trip, whose steps come back");
  }
  if (spec.kind == TripKind::usual) {
    spec.kind = network && optimizer != "gd" ? TripKind::kept : TripKind::metric;
  }
  if (spec.metric() && (spec.power || spec.refresh)) {
    throw OptionError(spec.power ? "power" : "refresh", "needs --round-trip kept");
  }
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> with_round_trips(
    std::unique_ptr<BasicOptimizer<Scalar>> rule, const BasicObjective<Scalar>& objective,
    RoundTripSpec& spec, std::optional<RateSpec>& rate) {
  if (!spec.on()) return rule;
  std::shared_ptr<const BasicOptimizer<Scalar>> shared = std::move(rule);
  try {
    if (spec.metric()) return metric_trips<Scalar>(std::move(shared), objective, spec, rate);
    if (!objective.mlp()) {
      throw OptionError("round-trip", "needs a network; a factorization takes --round-trip metric");
    }
    return kept_trips<Scalar>(std::move(shared), spec);
  } catch (const InvalidArgument& error) {
    throw OptionError(error.field() == "objective" ? "round-trip" : error.field(), error.detail());
  }
}

template std::unique_ptr<BasicOptimizer<float>> with_round_trips(
    std::unique_ptr<BasicOptimizer<float>>, const BasicObjective<float>&, RoundTripSpec&,
    std::optional<RateSpec>&);
template std::unique_ptr<BasicOptimizer<double>> with_round_trips(
    std::unique_ptr<BasicOptimizer<double>>, const BasicObjective<double>&, RoundTripSpec&,
    std::optional<RateSpec>&);

}  // namespace symport::lab
