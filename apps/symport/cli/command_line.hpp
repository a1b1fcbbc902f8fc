// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace symport::cli {

/// The whole program: `arguments` are those after its name. Returns the exit code; throws nothing.
int run_program(const std::vector<std::string>& arguments, const std::vector<Command>& commands);

/// Joins every value to the flag before it (`--start -1,-1` becomes `--start=-1,-1`), so that
/// a negative number is not taken for a flag. `flags` are those that take a value. Throws
/// UsageError where a value is missing: at the end, or before a word that is a flag itself.
std::vector<std::string> join_values(const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& flags);

}  // namespace symport::cli
