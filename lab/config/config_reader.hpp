// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/options/arguments.hpp"
#include "lab/options/option.hpp"

/// Configuration files (TOML): their keys are names of options, and `command` may say which command
/// they are for.
namespace symport::lab {

/// Throws UsageError, naming `origin`, for a file that cannot be read or is larger than a megabyte.
std::string read_config_text(const std::filesystem::path& file, const std::string& origin);

/// What the text says; `file` names it in messages. Throws UsageError with file and line for text
/// that is not TOML, an unknown key (the nearest is suggested), one that only the command line may
/// have, a value that is no string, number, switch or list of numbers, or another command.
Arguments parse_config(const std::string& text, const std::string& file, const std::string& command,
                       const std::vector<Option>& options);

/// The command that the text is for; empty where it does not say.
std::string command_of_config(const std::string& text, const std::string& file);

}  // namespace symport::lab
