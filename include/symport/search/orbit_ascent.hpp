// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

struct OrbitAscentOptions {
  Index max_steps = 10;
  double step_size = 0.1;    ///< first length to try, scale-free
  double growth = 2.0;       ///< of the length after a step accepted on the first try
  double shrink = 0.5;       ///< of the length after a trial that was rejected
  Index max_backtracks = 8;  ///< per step
  double max_length = 1.0;   ///< of one step
};

/// Normalised gradient ascent on the orbit with backtracking: every accepted step improves the
/// criterion and is allowed by it. Needs no teleport learning rate. Works on every continuous
/// orbit.
class OrbitAscent final : public Search {
 public:
  explicit OrbitAscent(const OrbitAscentOptions& options = {});
  std::string_view name() const override { return "ascent"; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;

 private:
  OrbitAscentOptions options_;
};

}  // namespace symport
