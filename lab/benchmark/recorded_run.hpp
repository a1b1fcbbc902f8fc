// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/trial.hpp"

namespace symport::lab::benchmark {

/// The cost of what was not reached.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// One run of a method on a problem with one seed, as a file of results keeps it.
///
/// Its curve holds the lowest losses so far, each with what had been spent when it was reached. A
/// trial keeps rows in steps of one part in a hundred (`compare::Trial::points`): costs are known
/// to that accuracy.
struct RecordedRun {
  std::uint64_t seed = 0;
  double start = 0.0;    ///< the loss there
  double minimum = 0.0;  ///< the least there is, where it is known; of networks 0, a bound
  std::vector<double> evaluations{}, seconds{}, losses{};  ///< of the curve; all ascend, or descend
  double last_loss = 0.0;                                  ///< infinity: diverged
  RunStatus status = RunStatus::step_limit;
  compare::Cost spent{};
  Index accepted = 0, refused = 0;  ///< teleports
  double drift = 0.0;               ///< the largest
  bool loss_invariant = true;
  std::string refusal{};  ///< the reason of the first refused teleport

  /// The lowest loss of all; infinity where nothing was measured.
  double best() const;
  /// What it took to get to this loss or below it.
  std::optional<compare::Cost> reached(double loss) const;
};

RecordedRun recorded(const compare::Trial& trial, std::uint64_t seed,
                     const compare::StartLoss& start);

/// Both ways with every bit. `recorded_run` throws InvalidArgument for anything that `run_json`
/// does not write.
nlohmann::ordered_json run_json(const RecordedRun& run);
RecordedRun recorded_run(const nlohmann::ordered_json& json);

}  // namespace symport::lab::benchmark
