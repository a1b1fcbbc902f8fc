// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "lab/runs/function_run.hpp"
#include "lab/runs/network_run.hpp"

/// How runs are written; `run_reader.hpp` is the way back.
namespace symport::lab {

/// The result as one JSON object: summary.json, and what `--json` prints.
std::string json_of(const FunctionResult& result);
std::string json_of(const NetworkResult& result);

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
