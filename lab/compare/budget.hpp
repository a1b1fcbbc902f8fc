// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace symport::lab::compare {

/// How much every run may spend.
struct Budget {
  enum class Unit { evaluations, seconds };
  Unit unit = Unit::evaluations;
  double amount = 10000.0;

  std::string text() const;       ///< "2000evals", "5s"
  std::string unit_name() const;  ///< "gradient evaluations", "seconds"
};
/// "2000evals", "5s", "500ms". Throws InvalidArgument.
Budget parse_budget(const std::string& text);

/// What a run is to reach.
struct Target {
  double value = 0.0;
  bool relative = false;  ///< to the loss at the start, both above the minimum where that is known

  std::string text() const;  ///< "0.1", "rel:0.001"
};
/// "0.1", "rel:0.001". Throws InvalidArgument.
Target parse_target(const std::string& text);

/// What has been spent up to some point of a run.
struct Cost {
  double steps = 0.0;
  double evaluations = 0.0;  ///< in gradients, every one that a teleport makes included
  double seconds = 0.0;

  double in(Budget::Unit unit) const {
    return unit == Budget::Unit::evaluations ? evaluations : seconds;
  }
};

}  // namespace symport::lab::compare
