// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/options/option_table.hpp"
#include "lab/runs/run_directory.hpp"

namespace symport::cli {

/// Where a command's results and messages go.
struct OutputOptions {
  std::optional<std::string> out = std::nullopt;
  std::optional<std::string> report = std::nullopt;
  std::optional<std::string> figures = std::nullopt;
  bool force = false;
  bool json = false;
  bool quiet = false;
  bool no_progress = false;

  /// What becomes of a file that was put where a result goes since the command began.
  Existing existing() const { return force ? Existing::replace : Existing::keep; }
  bool shows_progress() const { return !quiet && !no_progress; }
  /// The directory of --out, if there is one. Throws UsageError.
  std::unique_ptr<lab::RunDirectory> directory() const;
};

OutputOptions read_output_options(const lab::Arguments& arguments);

/// One of these options by name; help and placeholder may be others than the usual ones.
struct OutputFlag {
  std::string name, help, value;

  // NOLINTNEXTLINE: a name is a flag
  OutputFlag(const char* flag, std::string other_help = {}, std::string other_value = {})
      : name(flag), help(std::move(other_help)), value(std::move(other_value)) {}
};
/// The flags of a command, in this order.
std::vector<lab::Option> output_flags(const std::vector<OutputFlag>& flags);

}  // namespace symport::cli
