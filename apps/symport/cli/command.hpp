// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/options/given.hpp"

namespace symport::cli {

/// One option of a command: `--search-steps` on the command line, `search-steps` in a configuration
/// file.
struct Option {
  std::string name;
  std::string value;  ///< what stands behind it in the help: "RATE|auto"; empty: a switch
  std::string help;   ///< its default included, printed from where the default is defined
  std::string group = "Options";
  /// A positional that takes every word that is left, or a flag that may be given again and again;
  /// in a configuration file a list of strings (`Given::list`).
  bool many = false;
};

/// A command of the program, as data: the command line, its help and the configuration files are
/// all made from it. A new command is a new file in commands/ and a line in `all_commands`.
struct Command {
  std::string name;
  std::string summary;   ///< one line for `symport --help`
  std::string details;   ///< what it does, for the command's own help
  std::string examples;  ///< one a line
  std::vector<Option> positionals;
  std::vector<Option> options;
  std::function<int(const Given&)> run;  ///< returns the exit code
};

/// Flags that every command with a result understands.
namespace common {
Option out();
Option report();
Option force();
Option json();
Option quiet();
Option no_progress();
}  // namespace common

std::vector<Command> all_commands();

}  // namespace symport::cli
