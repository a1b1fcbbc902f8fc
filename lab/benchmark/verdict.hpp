// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/benchmark/standings.hpp"
#include "lab/compare/judgement.hpp"

namespace symport::lab::benchmark {

/// What the numbers say about one unit of cost.
struct Verdict {
  Unit unit = Unit::evaluations;
  /// The methods with the highest efficiency; none where nothing was solved.
  std::vector<std::string> leaders{};
  /// It is one method, and its speed-up over every other one is above 1 with confidence.
  bool won = false;
  std::vector<std::string> rivals{};  ///< others that may be as good
  /// Of the best method that teleports over the best plain one.
  compare::Effect teleportation = compare::Effect::cannot_tell;
  MedianInterval teleport_speed_up{};
  std::string text{};  ///< in words
};

Verdict verdict_of(const Benchmark& benchmark, const Costs& costs,
                   const std::vector<Standing>& standings, Unit unit);

}  // namespace symport::lab::benchmark
