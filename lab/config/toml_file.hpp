// SPDX-License-Identifier: MIT
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <optional>
#include <string>

#include "lab/options/arguments.hpp"
#include "lab/options/option.hpp"

/// Reading TOML; for the few files that know its library, which is slow to compile.
namespace symport::lab {

/// Throws UsageError for a file that cannot be read (naming `origin`) or parsed (naming the line).
toml::table read_toml(const std::filesystem::path& file, const std::string& origin);
/// The same from text; `file` names it in messages.
toml::table parse_toml(const std::string& text, const std::string& file);

/// "run.toml:3: steps"
std::string toml_origin(const std::filesystem::path& file, const toml::key& key);

/// A value as the text that the command line would have; nothing for tables, dates and the like.
std::optional<std::string> toml_text(const toml::node& node);

/// The keys of a table as arguments of a command. Throws UsageError for an unknown key (the nearest
/// is suggested), a value that is no string, number, switch or list of numbers, or another
/// `command`.
Arguments toml_arguments(const toml::table& table, const std::filesystem::path& file,
                         const std::string& command, const std::vector<Option>& options);

}  // namespace symport::lab
