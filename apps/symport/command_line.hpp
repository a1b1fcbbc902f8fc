// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace symport::cli {

/// The whole program: `arguments` are those behind its name. Returns the exit code; throws nothing.
int run_program(const std::vector<std::string>& arguments);

/// Joins a negative number to the flag in front of it (`--start -1,-1` becomes `--start=-1,-1`),
/// which a parser of flags would take for a flag. `flags` are those that take a value.
std::vector<std::string> join_negative_numbers(const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& flags);

}  // namespace symport::cli
