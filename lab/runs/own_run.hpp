// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "symport/training/run_summary.hpp"

namespace symport::lab {

/// A run of one's own program, as its directory should tell it.
struct OwnRun {
  std::string name;       ///< of the function: runs of one name are drawn together
  std::string formula{};  ///< in x1, x2, ... (see `Expression`): level sets are then drawn too
  std::string optimizer = "gd";  ///< one of `symport list`
  double learning_rate = 1e-3;
  std::string teleport = "never";  ///< the schedule, as `Schedule` reads it
  std::uint64_t seed = 0;
  Vector x{};  ///< where it ended
};

/// Writes config.toml, trace.csv, teleports.jsonl and summary.json of a run that `train` made, so
/// that `symport report DIRECTORY` draws it:
///
///   const RunSummary summary = train(objective, GradientDescent{}, w, {...});
///   lab::write_own_run("runs/teleported", {.name = "valley", .teleport = "every:50", .x = w},
///   summary);
///
/// Throws UsageError when the directory has something in it (and `force` is false), cannot be
/// written to, or an optimizer, schedule or formula is not known; OutputError when the disk is
/// full.
void write_own_run(const std::filesystem::path& directory, const OwnRun& run,
                   const RunSummary& summary, bool force = false);

}  // namespace symport::lab
