// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "lab/options/arguments.hpp"
#include "lab/options/option.hpp"

namespace symport::cli {

using lab::Arguments;
using lab::Option;

/// A command of the program, as data: the command line, its help and the configuration files are
/// all made from it. A new command is a new file in commands/ and a line in `all_commands`.
struct Command {
  std::string name;
  std::string summary;          ///< one line for `symport --help`
  std::string details;          ///< what it does, for the command's own help
  std::string examples;         ///< one per line
  std::vector<Option> options;  ///< flags and positionals, most of them from an OptionTable
  std::function<int(const Arguments&)> run;  ///< returns the exit code
};

/// The option that reads others from a file.
inline constexpr const char* config_option = "config";
Option config_flag(const std::string& example, const std::string& group);

/// What help and messages call a positional: "DIR" for "DIR...".
std::string placeholder(const Option& option);

/// What a message calls an option: where it was given, else its flag or the placeholder of its
/// positional.
std::string origin_of(const std::string& option, const Command& command,
                      const Arguments& arguments);

}  // namespace symport::cli
