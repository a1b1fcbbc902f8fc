// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/runs/network_run.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/runs/trace_columns.hpp"

namespace symport::lab {

/// A run that ended, as reports and experiments see it: what its directory says, or would say.
struct RunRecord {
  std::filesystem::path directory = {};  ///< empty: it was not kept
  std::string name = {};                 ///< of its series; empty: made from the specification
  RunSpec spec;
  std::string config_text = {};  ///< config.toml
  RunStatus status = RunStatus::step_limit;
  std::string version = {};    ///< of the program that made it
  std::string machine = {};    ///< empty: not recorded
  bool loss_invariant = true;  ///< what its symmetry promises
  TraceColumns trace;
  std::vector<Certificate> teleports;
  std::vector<TraceTeleport> jumps;  ///< the same teleports, as the trace has them

  std::uint64_t seed() const;
  const Schedule& schedule() const;  ///< of its teleports
};

/// The same as reading what `write_run` writes, without the files.
RunRecord record_of(const FunctionResult& result);
RunRecord record_of(const NetworkResult& result);

}  // namespace symport::lab
