// SPDX-License-Identifier: MIT
#include "commands/demo_network.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "terminal/interruption.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr Index epochs = 30, batch = 20, samples = 1000, validation = 200;
/// Three a decade, the same for all.
constexpr double network_rates[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0};

NetworkRunSpec spirals(std::uint64_t seed) {
  return {.data = "spirals",
          .samples = samples,
          .validation = validation,
          .biases = true,
          .batch = batch,
          .epochs = epochs,
          .seed = seed};
}

/// The run with the smallest training loss of all rates; none when interrupted.
std::optional<NetworkResult> at_best_rate(NetworkRunSpec spec, DataCache& data) {
  const NetworkObserver observer{.watch = [](const NetworkProgress&) { return !interrupted(); }};
  std::optional<NetworkResult> best;
  for (const double rate : network_rates) {
    spec.learning_rate = RateSpec{rate};
    NetworkResult result = load(spec, data)->train({}, observer);
    if (interrupted()) return std::nullopt;
    if (result.summary.status == RunStatus::diverged) continue;
    if (!best || result.summary.final_loss < best->summary.final_loss) best = std::move(result);
  }
  return best;
}

}  // namespace

std::vector<DemoNetworkRow> demo_network(std::uint64_t seed) {
  NetworkRunSpec sgd = spirals(seed), momentum = sgd, adam = sgd, trips = sgd, both;
  momentum.optimizer = "momentum";
  adam.optimizer = "adam";
  trips.trip.kind = TripKind::metric;
  both = trips;
  both.optimizer = momentum.optimizer;
  DataCache data;
  std::vector<DemoNetworkRow> rows;
  const auto add = [&](const char* method, const char* folder, const NetworkRunSpec& spec) {
    if (auto result = at_best_rate(spec, data)) {
      rows.push_back({method, folder, std::move(*result)});
    }
  };
  add("SGD", "sgd", sgd);
  add("momentum", "momentum", momentum);
  add("Adam", "adam", adam);
  add("round trips", "round-trips", trips);
  add("  + momentum", "round-trips-momentum", both);
  return rows;
}

std::string demo_network_text(const std::vector<DemoNetworkRow>& rows, const Style& style) {
  using enum TextTable::Align;
  TextTable table({{"network", left},
                   {"method", left},
                   {"best rate"},
                   {"steps"},
                   {"training loss"},
                   {"validation loss"},
                   {"right"},
                   {"cost"}});
  for (const DemoNetworkRow& row : rows) {
    const RunSummary& summary = row.result.summary;
    const TraceRow& last = summary.trace.rows.back();
    table.add({&row == &rows.front() ? "spirals" : "", row.method,
               fmt::format("{:.3g}", *row.result.spec.learning_rate->constant()),
               fmt::format("{}", summary.steps), fmt::format("{:.4g}", summary.final_loss),
               fmt::format("{:.4g}", last.valid_loss),
               fmt::format("{:.1f} %", 100.0 * last.valid_accuracy),
               fmt::format("{:.0f}", summary.evaluations)});
  }
  return fmt::format(
      "\n"
      "A network 2-32-32-2 on two spirals, {} points in mini-batches of {}, {} epochs; every "
      "method "
      "at the\n"
      "rate with the smallest training loss among {} from {} to {}; cost in gradients of a "
      "mini-batch:\n\n{}",
      samples - validation, batch, epochs, std::size(network_rates), network_rates[0],
      network_rates[std::size(network_rates) - 1], table.text(style));
}

}  // namespace symport::cli
