// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "command.hpp"

namespace symport::cli {

/// A configuration file (TOML) of a command: its keys are the command's options and positionals,
/// and `command` may say which command it is for. Throws UsageError with file and line for a file
/// that cannot be read or parsed, an unknown key (the nearest is suggested), a value that is no
/// string, number, switch or list of numbers, or another command.
Given read_config(const std::filesystem::path& file, const Command& command);

/// One line of a configuration file to write.
struct ConfigEntry {
  std::string key;
  std::variant<bool, std::int64_t, double, std::string, std::vector<double>> value;
  std::string comment;
};

/// TOML that `read_config` reads back to the same values. `heading` becomes a comment.
std::string config_text(const std::string& heading, const std::vector<ConfigEntry>& entries);

}  // namespace symport::cli
