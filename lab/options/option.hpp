// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace symport::lab {

/// What an option decides.
enum class Role {
  identity,   ///< what the run is: runs that differ here are different runs
  length,     ///< how far it goes, which may be changed when it is resumed
  execution,  ///< where and how it is done
};

/// One option: `--search-steps` on the command line, `search-steps` in a configuration file and in
/// reports.
struct Option {
  std::string name;
  std::string value;  ///< what follows it in the help: "RATE|auto"; empty: a switch
  std::string help;   ///< how to choose it; see `OptionTable` for its default
  std::string group = "Options";
  Role role = Role::identity;
  bool positional = false;
  /// It may be given several times; in a configuration file it is a list of strings.
  bool many = false;
  /// The value that it stands for where none follows; `value` then lists those there are: all|last.
  std::string implied{};
  std::vector<std::string> aliases{};  ///< other names by which it may be given; see `aliases_of`

  bool is_called(std::string_view given) const {
    return name == given || std::find(aliases.begin(), aliases.end(), given) != aliases.end();
  }
};

/// What other programs call an option.
inline std::vector<std::string> aliases_of(std::string_view option) {
  if (option == "lr") return {"learning-rate"};
  return {};
}

/// Whether an option says where results go or what they may replace. That is for the command line
/// to say: configurations, run directories and experiments may come from others.
inline bool is_typed_only(std::string_view option) {
  constexpr std::string_view names[] = {"out", "report", "figures", "force", "resume"};
  return std::find(std::begin(names), std::end(names), option) != std::end(names);
}

}  // namespace symport::lab
