// SPDX-License-Identifier: MIT
#include "lab/config/config_reader.hpp"

#include "lab/config/toml_file.hpp"

namespace symport::lab {

Arguments parse_config(const std::string& text, const std::string& file, const std::string& command,
                       const std::vector<Option>& options) {
  return toml_arguments(parse_toml(text, file), file, command, options);
}

std::string command_of_config(const std::string& text, const std::string& file) {
  return parse_toml(text, file)["command"].value_or(std::string());
}

}  // namespace symport::lab
