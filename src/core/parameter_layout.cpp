// SPDX-License-Identifier: MIT
#include "symport/core/parameter_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "symport/core/invalid_argument.hpp"

namespace symport {

ParameterLayout& ParameterLayout::add(std::string name, std::vector<Index> shape) {
  if (shape.empty() || *std::min_element(shape.begin(), shape.end()) < 0) {
    throw InvalidArgument("block " + name, fmt::format("the shape {}", fmt::join(shape, " x ")),
                          "one or more sizes that are not negative");
  }
  if (!places_.try_emplace(name, blocks_.size()).second) {
    throw InvalidArgument("block " + name, "the name twice", "each name once");
  }
  const Index rows = shape.front();
  const Index cols = std::accumulate(shape.begin() + 1, shape.end(), Index{1}, std::multiplies<>());
  blocks_.push_back({std::move(name), std::move(shape), rows, cols, size_});
  size_ += blocks_.back().size();
  return *this;
}

ParameterLayout& ParameterLayout::add(std::string name, Index rows) {
  return add(std::move(name), std::vector<Index>{rows});
}

ParameterLayout& ParameterLayout::add(std::string name, Index rows, Index cols) {
  return add(std::move(name), std::vector<Index>{rows, cols});
}

const ParameterBlock& ParameterLayout::block(const std::string& name) const {
  const auto place = places_.find(name);
  if (place != places_.end()) return blocks_[place->second];
  std::string names;
  for (const ParameterBlock& b : blocks_) names += (names.empty() ? "" : ", ") + b.name;
  throw InvalidArgument("block", name, "one of " + names);
}

}  // namespace symport
