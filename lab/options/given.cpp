// SPDX-License-Identifier: MIT
#include "lab/options/given.hpp"

#include <fmt/format.h>

namespace symport::lab {

bool Given::is_on(const std::string& name) const {
  const auto value = read(name, [](const std::string& text) {
    if (text != "true" && text != "false") {
      throw InvalidArgument("switch", fmt::format("'{}'", text), "true or false");
    }
    return text == "true";
  });
  return value.value_or(false);
}

std::optional<std::string> Given::text(const std::string& name) const {
  return read(name, [](const std::string& text) { return text; });
}

std::vector<std::string> Given::list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found == lists_.end() ? std::vector<std::string>{} : found->second;
}

std::vector<std::string> Given::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) names.push_back(name);
  return names;
}

std::string Given::origin(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "--" + name : found->second.origin;
}

}  // namespace symport::lab
