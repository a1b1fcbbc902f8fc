// SPDX-License-Identifier: MIT
#include "lab/options/arguments.hpp"

#include <algorithm>

namespace symport::lab {

const Argument* Arguments::find(const std::string& name) const {
  const auto found = std::find_if(list_.begin(), list_.end(),
                                  [&](const Argument& argument) { return argument.name == name; });
  return found == list_.end() ? nullptr : &*found;
}

void Arguments::merge(const Arguments& other) {
  const Arguments own = *this;
  std::copy_if(other.begin(), other.end(), std::back_inserter(list_),
               [&](const Argument& argument) { return !own.has(argument.name); });
}

std::optional<std::string> Arguments::text(const std::string& name) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return std::nullopt;
  return argument->text;
}

std::string Arguments::origin(const std::string& name) const {
  const Argument* argument = find(name);
  return argument == nullptr ? "--" + name : argument->origin;
}

}  // namespace symport::lab
