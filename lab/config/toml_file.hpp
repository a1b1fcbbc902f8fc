// SPDX-License-Identifier: MIT
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <optional>
#include <string>

#include "lab/options/given.hpp"
#include "lab/options/option.hpp"

/// Reading TOML; for the few files that know its library, which is slow to compile.
namespace symport::lab {

/// Throws UsageError, blaming `origin` or the line, for a file that cannot be read or parsed.
toml::table read_toml(const std::filesystem::path& file, const std::string& origin);

/// "run.toml:3: steps"
std::string toml_origin(const std::filesystem::path& file, const toml::key& key);

/// A value as the text that the command line would have; nothing for tables, dates and the like.
std::optional<std::string> toml_text(const toml::node& node);

/// The keys of a table as options of a command. Throws UsageError for an unknown key (the nearest
/// is suggested), one that only the command line may have (`is_typed_only`), a value that is no
/// string, number, switch or list of numbers, or another `command`.
Given given_by(const toml::table& table, const std::filesystem::path& file,
               const std::string& command, const std::vector<Option>& options);

}  // namespace symport::lab
