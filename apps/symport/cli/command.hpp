// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "lab/options/given.hpp"
#include "lab/options/option.hpp"

namespace symport::cli {

using lab::Given;
using lab::Option;

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

  /// What a configuration file of the command may hold.
  std::vector<Option> keys() const {
    std::vector<Option> all = positionals;
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
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
