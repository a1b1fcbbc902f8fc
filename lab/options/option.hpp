// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace symport::lab {

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

}  // namespace symport::lab
