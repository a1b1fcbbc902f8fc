// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/training/best_learning_rate.hpp"

namespace symport::lab::benchmark {

/// What a benchmark consists of where it is not told: names of problems and texts of methods, the
/// rates that are tried, and how many seeds judge and tune.
struct Suite {
  std::string name;
  std::string summary;
  std::vector<std::string> problems;
  std::vector<std::string> methods;
  RateGrid grid{};
  Index seeds = 6;
  Index tuning_seeds = 2;
};

const std::vector<Suite>& suites();

}  // namespace symport::lab::benchmark
