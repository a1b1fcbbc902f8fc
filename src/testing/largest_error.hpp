// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "symport/objectives/batch_objective.hpp"

namespace symport::testing {

/// Where two vectors differ most: "most at number 3 (W1(0,1)), which is 0.5 instead of 0.25". The
/// parameter is named where the objective is a BatchObjective. Not finite is most of all.
inline std::string largest_error(const Vector& found, const Vector& expected,
                                 const Objective* objective = nullptr) {
  Index worst = 0;
  const auto error = [&](Index i) {
    const double difference = std::abs(found[i] - expected[i]);
    return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
  };
  for (Index i = 1; i < found.size(); ++i) {
    if (error(i) > error(worst)) worst = i;
  }
  std::string name;
  if (const auto* model = dynamic_cast<const BatchObjective<double>*>(objective)) {
    for (const ParameterBlock& block : model->layout().blocks()) {
      const Index i = worst - block.offset;
      if (i < 0 || i >= block.size()) continue;
      name = fmt::format(" ({}({},{}))", block.name, i % block.rows, i / block.rows);
    }
  }
  return fmt::format("most at number {}{}, which is {:.6g} instead of {:.6g}", worst, name,
                     found[worst], expected[worst]);
}

}  // namespace symport::testing
