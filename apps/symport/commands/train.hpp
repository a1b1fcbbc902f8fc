// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/command.hpp"
#include "lab/runs/network_training.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// `symport train`: Algorithms 1 (full batches) and 2 (mini-batches) on a network.
Command train_command();

/// The result as one JSON object, and as text for people.
std::string train_json(const TrainingResult& result);
std::string train_text(const TrainingResult& result, const Style& style);
/// model.npz, config.toml, trace.csv, teleports.jsonl and at last summary.json.
void write_training(const TrainingResult& result, RunDirectory& directory);

}  // namespace symport::cli
