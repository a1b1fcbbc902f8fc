// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

struct FixedAscentOptions {
  Index steps = 10;
  double rate = 0.1;         ///< multiplies the raw gradient of the objective in the Lie algebra
  bool random_start = true;  ///< on compact groups; others always start at the identity
};

/// The paper's search: a fixed number of ascent steps T <- T + rate * dJ/dT, no checks on the way.
/// On SO(2) the angle starts uniformly in [0, pi) (section 6.1, Booth). The last point is returned,
/// better or not; only the drift of the loss can refuse it.
class FixedAscent final : public Search {
 public:
  explicit FixedAscent(const FixedAscentOptions& options = {});
  std::string_view name() const override { return "fixed"; }
  bool compares() const override { return false; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;

 private:
  FixedAscentOptions options_;
};

}  // namespace symport
