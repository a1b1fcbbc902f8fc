// SPDX-License-Identifier: MIT
#include "lab/compare/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport::lab::compare {

namespace {

std::string number_text(double value) {
  if (std::isinf(value)) return "inf";
  if (value >= 100.0 && value < 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace

Summary summary_of(const Comparison& comparison, const Entry& entry) {
  const double confidence = comparison.options.confidence;
  Summary summary;
  std::vector<double> losses;
  for (const Trial& trial : entry.trials) {
    summary.reached += trial.reached ? 1 : 0;
    summary.teleports += trial.teleports.total();
    summary.accepted += trial.teleports.accepted;
    summary.refused += trial.teleports.refused;
    const bool lost = trial.status == RunStatus::diverged;
    summary.diverged += lost && !trial.reached ? 1 : 0;
    summary.diverged_later += lost && trial.reached ? 1 : 0;
    summary.drift = std::max(summary.drift, trial.teleports.largest_drift);
    summary.loss_invariant = summary.loss_invariant && trial.loss_invariant;
    if (summary.refusal.empty() && trial.teleports.first_refusal) {
      summary.refusal = trial.teleports.first_refusal->reason;
    }
    losses.push_back(std::isnan(trial.last_loss) ? std::numeric_limits<double>::infinity()
                                                 : trial.last_loss);
  }
  summary.steps = median_of(to_target(entry, &Cost::steps), confidence);
  summary.evaluations = median_of(to_target(entry, &Cost::evaluations), confidence);
  summary.seconds = median_of(to_target(entry, &Cost::seconds), confidence);
  summary.last_loss = median_of(losses, confidence);
  return summary;
}

std::string last_loss_text(const Summary& summary) {
  const double loss = summary.last_loss.median.high;
  if (std::isinf(loss) && summary.diverged + summary.diverged_later > 0) return "diverged";
  return fmt::format("{:.3g}", loss);
}

std::string spread_text(const MedianInterval& value) {
  const auto [low, high] = value.interval;
  if (std::isinf(value.median.high) && std::isinf(low) && low > 0.0) return "not reached";
  const std::string median =
      std::isinf(value.median.high) ? "not reached" : number_text(value.median.high);
  if (std::isinf(low) && low < 0.0) return median;  // too few runs for an interval
  return fmt::format("{} [{}, {}{}", median, number_text(low), number_text(high),
                     std::isinf(high) ? ")" : "]");
}

}  // namespace symport::lab::compare
