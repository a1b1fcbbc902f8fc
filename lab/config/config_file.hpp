// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lab/options/given.hpp"
#include "lab/options/option.hpp"

namespace symport::lab {

/// A configuration file (TOML) of a command: its keys are names of `options`,
/// and `command` may say which command it is for. Throws UsageError with file and line for a file
/// that cannot be read or parsed, an unknown key (the nearest is suggested), a key that only the
/// command line may have (`is_typed_only`), a value that is no string, number, switch or list of
/// numbers, or another command.
Given read_config(const std::filesystem::path& file, const std::string& command,
                  const std::vector<Option>& options);

/// One key of a configuration file that was read.
struct ConfigValue {
  std::string name;
  std::optional<std::string> text;  ///< as on the command line; unset: a table, a date and the like
  std::string origin;               ///< "run.toml:3: steps"
};

/// Every key of a configuration file, whatever command it is for, sorted by name. Throws UsageError
/// for a file that cannot be read (blaming `origin`) or parsed.
std::vector<ConfigValue> read_config_values(const std::filesystem::path& file,
                                            const std::string& origin);

/// The heading of every run's config.toml begins with this.
inline constexpr const char* run_heading = "A run of symport";

/// One line of a configuration file to write.
struct ConfigEntry {
  std::string key;
  std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
               std::vector<std::string>>
      value;
  std::string comment;
};

/// TOML that `read_config` reads back to the same values. `heading` becomes a comment.
std::string config_text(const std::string& heading, const std::vector<ConfigEntry>& entries);

}  // namespace symport::lab
