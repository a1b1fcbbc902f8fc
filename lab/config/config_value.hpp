// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace symport::lab {

/// A value of a configuration file.
using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<std::string>>;

/// The value as the command line would have it: "784,512,10".
std::string text_of(const ConfigValue& value);

/// One line of a configuration file.
struct ConfigEntry {
  std::string key;
  ConfigValue value;
  std::string comment = {};
};

}  // namespace symport::lab
