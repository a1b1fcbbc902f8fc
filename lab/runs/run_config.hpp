// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <variant>

#include "lab/config/config_value.hpp"
#include "lab/runs/function_run.hpp"
#include "lab/runs/network_run_spec.hpp"

/// Runs of either kind, and their configuration files.
namespace symport::lab {

using RunSpec = std::variant<FunctionRunSpec, NetworkRunSpec>;

/// The command that makes such a run: "optimize" or "train".
std::string_view command_of(const RunSpec& spec);
/// The options of that command. Throws InvalidArgument for any other.
const std::vector<Option>& run_options(std::string_view command);
/// Throws UsageError that names the place of a malformed value.
RunSpec read_run_spec(std::string_view command, const Arguments& arguments);

/// Every option that is set, by name.
std::vector<ConfigEntry> entries_of(const RunSpec& spec);

/// config.toml: every option of a resolved run, as a file that repeats it.
std::string config_of(const FunctionRunSpec& spec, const std::string& formula);
std::string config_of(const NetworkRunSpec& spec);
/// The way back. Throws UsageError with file and line for anything malformed.
RunSpec parse_run_config(const std::string& text, const std::string& file);

/// What makes a resolved run this run, its length aside.
std::string identity_of(const NetworkRunSpec& spec);
/// Whether `text`, which an earlier version may have written, has the values of `identity`.
bool has_identity(const std::string& text, const std::string& identity);

}  // namespace symport::lab
