// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/command.hpp"
#include "lab/runs/optimization.hpp"
#include "lab/runs/run_directory.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// `symport optimize FUNCTION`: Algorithm 1 on a named test function.
Command optimize_command();

/// The result as one JSON object, and as text for people.
std::string optimize_json(const Optimization& run);
std::string optimize_text(const Optimization& run, const Style& style);

/// config.toml, trace.csv, teleports.jsonl and at last summary.json, below `folder` of the
/// directory.
void write_run(const Optimization& run, RunDirectory& directory,
               const std::filesystem::path& folder = {});

}  // namespace symport::cli
