// SPDX-License-Identifier: MIT
#include "symport/core/parameter_layout.hpp"

#include <algorithm>

#include "symport/core/invalid_argument.hpp"

namespace symport {

ParameterLayout& ParameterLayout::add(std::string name, Index rows, Index cols) {
  if (rows < 0 || cols < 0) {
    throw InvalidArgument("block " + name, std::to_string(rows) + " x " + std::to_string(cols),
                          "sizes that are not negative");
  }
  const auto same = [&](const ParameterBlock& b) { return b.name == name; };
  if (std::any_of(blocks_.begin(), blocks_.end(), same)) {
    throw InvalidArgument("block " + name, "the name twice", "each name once");
  }
  blocks_.push_back({std::move(name), rows, cols, size_});
  size_ += rows * cols;
  return *this;
}

const ParameterBlock& ParameterLayout::block(const std::string& name) const {
  std::string names;
  for (const ParameterBlock& b : blocks_) {
    if (b.name == name) return b;
    names += (names.empty() ? "" : ", ") + b.name;
  }
  throw InvalidArgument("block", name, "one of " + names);
}

}  // namespace symport
