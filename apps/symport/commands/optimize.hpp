// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/command.hpp"
#include "lab/runs/run_writer.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// `symport optimize FUNCTION`: Algorithm 1 on a named test function.
Command optimize_command();

/// The result as text for people.
std::string optimize_text(const lab::Optimization& run, const Style& style);

}  // namespace symport::cli
