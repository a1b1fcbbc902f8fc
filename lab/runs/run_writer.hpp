// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/runs/network_training.hpp"
#include "lab/runs/optimization.hpp"
#include "lab/runs/run_directory.hpp"

/// How runs are written; `run_reader.hpp` is the way back.
namespace symport::lab {

/// The result as one JSON object: summary.json, and what `--json` prints.
std::string optimize_json(const Optimization& run);
std::string train_json(const TrainingResult& result);

/// config.toml, trace.csv, teleports.jsonl and at last summary.json, below `folder` of the
/// directory.
void write_run(const Optimization& run, RunDirectory& directory,
               const std::filesystem::path& folder = {});
/// The same with model.npz.
void write_training(const TrainingResult& result, RunDirectory& directory);

}  // namespace symport::lab
