// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <algorithm>

namespace symport::cli {

Option config_flag(const std::string& example, const std::string& group) {
  return {.name = config_option,
          .value = "FILE",
          .help = "options from a TOML file, such as " + example +
                  "; flags win; --out, --report, --force and --resume are flags only",
          .group = group};
}

std::string placeholder(const Option& option) {
  return option.value.substr(0, option.value.find('.'));
}

std::string origin_of(const std::string& name, const Command& command, const Arguments& arguments) {
  const auto option = std::find_if(command.options.begin(), command.options.end(),
                                   [&](const Option& other) { return other.name == name; });
  const bool positional = option != command.options.end() && option->positional;
  if (!positional || arguments.has(name)) return arguments.origin(name);
  return placeholder(*option);
}

}  // namespace symport::cli
