// SPDX-License-Identifier: MIT
#include "symport/objectives/mlp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "symport/core/invalid_argument.hpp"

namespace symport {

Mlp::Mlp(std::vector<Index> widths, Activation activation, bool biases)
    : widths_(std::move(widths)), activation_(activation), biases_(biases) {
  if (widths_.size() < 2 || *std::min_element(widths_.begin(), widths_.end()) < 1) {
    throw InvalidArgument("layers", fmt::format("{}", fmt::join(widths_, ",")),
                          "two or more positive widths, from the features to the outputs");
  }
  offsets_.push_back(0);
  for (Index m = 1; m <= layers(); ++m) {
    offsets_.push_back(layout_.size());
    layout_.add(fmt::format("W{}", m), width(m), width(m - 1));
    if (biases_) layout_.add(fmt::format("b{}", m), width(m));
  }
}

}  // namespace symport
