// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/command.hpp"
#include "lab/runs/run_writer.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// `symport train`: Algorithms 1 (full batches) and 2 (mini-batches) on a network.
Command train_command();

/// The result as text for people.
std::string train_text(const lab::TrainingResult& result, const Style& style);

}  // namespace symport::cli
