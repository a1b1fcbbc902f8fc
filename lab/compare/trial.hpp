// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/problem.hpp"
#include "symport/training/run_status.hpp"

namespace symport::lab::compare {

/// How much every run may spend.
struct Budget {
  enum class Unit { evaluations, seconds };
  Unit unit = Unit::evaluations;
  double amount = 10000.0;

  std::string text() const;       ///< "2000evals", "5s"
  std::string unit_name() const;  ///< "gradient evaluations", "seconds"
};
/// "2000evals", "5s", "500ms". Throws InvalidArgument.
Budget parse_budget(const std::string& text);

/// What a run is to reach.
struct Target {
  double value = 0.0;
  bool relative = false;  ///< to the loss at the start, both above the minimum where that is known

  std::string text() const;  ///< "0.1", "rel:0.001"
};
/// "0.1", "rel:0.001". Throws InvalidArgument.
Target parse_target(const std::string& text);

/// What has been spent up to some point of a run.
struct Cost {
  double steps = 0.0;
  double evaluations = 0.0;  ///< in gradients, every one that a teleport makes included
  double seconds = 0.0;

  double in(Budget::Unit unit) const {
    return unit == Budget::Unit::evaluations ? evaluations : seconds;
  }
};

/// One run of one method on one problem with one seed.
struct Trial {
  double threshold = 0.0;         ///< the target as a loss
  std::optional<Cost> reached{};  ///< the first row at or below the target, within the budget
  /// Of the last row within the budget, of the first where none is; infinity: diverged.
  double last_loss = std::numeric_limits<double>::infinity();
  RunStatus status = RunStatus::step_limit;  ///< step_limit: the budget is used up
  Cost spent{};
  std::size_t teleports = 0, accepted = 0;
  double drift = 0.0;  ///< the largest of an accepted teleport
  bool loss_invariant = true;
  std::string refusal{};         ///< the reason of the first one
  std::vector<Cost> points{};    ///< of the curve, thinned out
  std::vector<double> losses{};  ///< at these points

  std::size_t refused() const { return teleports - accepted; }
};

struct TrialPlan {
  const Problem& problem;
  const Method& method;
  std::optional<std::string> rate{};  ///< unset: the method's own, else the problem's usual one
  std::uint64_t seed = 0;
  Budget budget{};
  double threshold = 0.0;          ///< the target as a loss
  double spread = 0.3;             ///< see `start_at`
  bool stop_at_target = false;     ///< and keep no curve
  std::filesystem::path folder{};  ///< of the run's own directory; empty: nowhere
};

/// Called before every step with what has been spent; returning false ends the run.
using TrialWatcher = std::function<bool(const Cost&)>;

/// Runs it through the functions behind `symport optimize` and `symport train`. Throws UsageError
/// when the method does not fit the problem.
Trial run_trial(const TrialPlan& plan, const TrialWatcher& watcher);

/// The start of a function for a seed: its usual start x0 plus, with x* its minimizer,
///   spread |x0 - x*| / sqrt(n) times standard normal numbers.
Vector start_at(const Problem& problem, std::uint64_t seed, double spread);

/// The loss at the start, above which none is worth speaking of, and the least known one.
struct StartLoss {
  double start = 0.0;
  double minimum = 0.0;

  double threshold(const Target& target) const {
    return target.relative ? minimum + target.value * (start - minimum) : target.value;
  }
};
StartLoss start_loss(const Problem& problem, std::uint64_t seed, double spread);

}  // namespace symport::lab::compare
