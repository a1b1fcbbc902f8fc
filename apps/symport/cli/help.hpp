// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace symport::cli {

/// `symport --help`, and `symport COMMAND --help`.
std::string program_help(const std::vector<Command>& commands);
std::string command_help(const Command& command);

}  // namespace symport::cli
