// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/runs/function_run.hpp"
#include "lab/runs/network_run.hpp"

/// How runs are written; `run_reader.hpp` is the way back.
namespace symport::lab {

/// The result as one JSON object: summary.json, and what `--json` prints.
std::string json_of(const FunctionResult& result);
std::string json_of(const NetworkResult& result);
/// Several runs that differ in their seeds: {"runs": [...], "median_final_loss": ...}.
std::string json_of_seeds(const std::vector<NetworkResult>& results);
/// The median of the final losses, where a run that diverged counts as infinite.
double median_final_loss(const std::vector<NetworkResult>& results);

/// config.toml, trace.csv, teleports.jsonl and at last summary.json, below `folder` of the
/// directory; of a network model.npz too.
void write_run(const FunctionResult& result, RunDirectory& directory,
               const std::filesystem::path& folder = {});
void write_run(const NetworkResult& result, RunDirectory& directory,
               const std::filesystem::path& folder = {});
/// The same without config.toml, which is there since the run began.
void write_results(const NetworkResult& result, RunDirectory& directory,
                   const std::filesystem::path& folder = {});

}  // namespace symport::lab
