// SPDX-License-Identifier: MIT
#include "lab/options/round_trip_spec.hpp"

#include "symport/optimizers/round_trip.hpp"

namespace symport::lab {

namespace {

constexpr const char* group = "Round trips";

Codec<double> as_damping() {
  return {[](const std::string& text) { return text == "0" ? 0.0 : as_positive().parse(text); },
          [](const double& damping) { return ConfigValue(damping); }};
}

}  // namespace

const OptionTable<RoundTripSpec>& round_trip_options() {
  using S = RoundTripSpec;
  static const OptionTable<S> table(
      group,
      {row({.name = "round-trip",
            .value = "all|last",
            .help = "every step teleports to the white gauge of all layers (or of the last one), "
                    "steps there and comes back; --lr is then theta, which has no unit (default "
                    "0.3; factorization 0.25; divided by 10 with momentum; adam 0.001). Alone: "
                    "all. With --teleport: at those steps only",
            .implied = "all"},
           &S::layers, as_choice<GaugeLayers>({GaugeLayers::all, GaugeLayers::last})),
       row({"damping", "D",
            "of the whitening, as a part of the mean eigenvalue: larger is nearer to plain "
            "gradient descent (default 0.1; factorization 0.001, falling with the loss)"},
           &S::damping, as_damping()),
       row({"kernel", "batch|average",
            "what is whitened: the mini-batch of the step, or a running average, which costs more "
            "(default batch)"},
           &S::kernel, as_choice<GaugeKernel>({GaugeKernel::batch, GaugeKernel::average})),
       row({"refresh", "K",
            fmt::format("steps between two inverses of the running average (default {})",
                        WhiteGaugeOptions{}.refresh)},
           &S::refresh, as_whole(1)),
       row({"move", "",
            "says explicitly what --teleport means without --round-trip: the weights move, and the "
            "run goes on from there"},
           &S::move, as_switch())});
  return table;
}

void check(const RoundTripSpec& spec) {
  const auto need = [&](bool given, const char* option) {
    if (given && !spec.on()) throw OptionError(option, "needs --round-trip");
  };
  need(spec.damping.has_value(), "damping");
  need(spec.kernel.has_value(), "kernel");
  need(spec.refresh.has_value(), "refresh");
  if (spec.move && spec.on()) {
    throw OptionError("move", "cannot be combined with --round-trip, which comes back");
  }
  if (spec.refresh && spec.kernel != GaugeKernel::average) {
    throw OptionError("refresh", "needs --kernel average: a batch kernel is fresh at every step");
  }
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> with_round_trips(
    std::unique_ptr<BasicOptimizer<Scalar>> rule, const BasicObjective<Scalar>& objective,
    RoundTripSpec& spec, std::optional<RateSpec>& rate, bool full_batches) {
  check(spec);
  if (!spec.on()) return rule;
  RoundTripOptions options{.gauge = {.layers = *spec.layers, .damping = spec.damping}};
  options.gauge.kernel = spec.kernel.value_or(options.gauge.kernel);
  options.gauge.refresh = spec.refresh.value_or(options.gauge.refresh);
  std::shared_ptr<const BasicOptimizer<Scalar>> shared = std::move(rule);
  std::unique_ptr<RoundTrip<Scalar>> trip;
  try {
    trip = std::make_unique<RoundTrip<Scalar>>(objective, std::move(shared), options);
  } catch (const InvalidArgument& error) {
    throw OptionError(error.field() == "optimizer" ? "optimizer" : "round-trip", error.detail());
  }
  spec.damping = trip->options().gauge.damping;
  spec.kernel = options.gauge.kernel;
  if (spec.kernel == GaugeKernel::average) spec.refresh = options.gauge.refresh;
  if (!rate) {
    rate =
        RateSpec{LearningRate(full_batches ? trip->usual_full_batch_rate() : trip->usual_rate())};
  }
  return trip;
}

template <Real Scalar>
double usual_rate(const BasicOptimizer<Scalar>& optimizer, double usual) {
  const auto* trip = dynamic_cast<const RoundTrip<Scalar>*>(&optimizer);
  return trip ? trip->usual_rate() : usual;
}

template std::unique_ptr<BasicOptimizer<float>> with_round_trips(
    std::unique_ptr<BasicOptimizer<float>>, const BasicObjective<float>&, RoundTripSpec&,
    std::optional<RateSpec>&, bool);
template std::unique_ptr<BasicOptimizer<double>> with_round_trips(
    std::unique_ptr<BasicOptimizer<double>>, const BasicObjective<double>&, RoundTripSpec&,
    std::optional<RateSpec>&, bool);
template double usual_rate(const BasicOptimizer<float>&, double);
template double usual_rate(const BasicOptimizer<double>&, double);

}  // namespace symport::lab
