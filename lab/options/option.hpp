// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

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

/// Whether an option says where results go or what they may replace. That is for the command line
/// to say: configurations, run directories and experiments may come from others.
inline bool is_typed_only(std::string_view option) {
  constexpr std::string_view names[] = {"out", "report", "figures", "force", "resume"};
  return std::find(std::begin(names), std::end(names), option) != std::end(names);
}

}  // namespace symport::lab
