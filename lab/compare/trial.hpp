// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/budget.hpp"
#include "lab/data/data_cache.hpp"
#include "lab/runs/run_config.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/training/run_clock.hpp"
#include "symport/training/run_status.hpp"

namespace symport::lab::compare {

/// One run of one method on one problem with one seed.
struct Trial {
  double threshold = 0.0;         ///< the target as a loss
  std::optional<Cost> reached{};  ///< the first row at or below the target, within the budget
  /// Of the last row within the budget, of the first where none is; infinity: diverged.
  double last_loss = std::numeric_limits<double>::infinity();
  RunStatus status = RunStatus::step_limit;  ///< step_limit: the budget is used up
  Cost spent{};
  TeleportTally teleports{};
  bool loss_invariant = true;
  std::vector<Cost> points{};    ///< of the curve, thinned out
  std::vector<double> losses{};  ///< at these points
};

struct TrialPlan {
  RunSpec spec;  ///< all but start, seed and length
  std::uint64_t seed = 0;
  Budget budget{};
  double threshold = 0.0;  ///< the target as a loss
  double spread = 0.3;     ///< see `start_at`
  bool stop_at_target = false;
  bool keep_curve = true;
  /// Of networks. Steps on functions take less time than reading the processor's clock does.
  RunClock clock = RunClock::wall;
  std::filesystem::path folder{};  ///< of the run's own directory; empty: nowhere
};

/// Called before every step with what has been spent; returning false ends the run.
using TrialWatcher = std::function<bool(const Cost&)>;

/// Throws OptionError when the method does not fit the problem.
Trial run_trial(const TrialPlan& plan, DataCache& data, const TrialWatcher& watcher);
/// Throws what `run_trial` would, without a run.
void check_fits(const RunSpec& spec, DataCache& data);

/// The start of a function for a seed: its usual start x0 plus, with x* its minimizer,
///   spread |x0 - x*| / sqrt(n) times standard normal numbers.
Vector start_at(const std::string& function, std::uint64_t seed, double spread);

/// The loss at the start, above which none is worth speaking of, and the least known one.
struct StartLoss {
  double start = 0.0;
  double minimum = 0.0;

  double threshold(const Target& target) const {
    return target.relative ? minimum + target.value * (start - minimum) : target.value;
  }
};
StartLoss start_loss(const RunSpec& spec, DataCache& data, std::uint64_t seed, double spread);

}  // namespace symport::lab::compare
