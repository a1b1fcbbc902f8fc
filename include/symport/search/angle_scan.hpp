// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

struct AngleScanOptions {
  Index points = 128;     ///< of the grid over one turn
  Index refinements = 4;  ///< how many of the best local maxima are refined
};

/// The global maximum on a circle: a grid over one turn, then golden section around the best local
/// maxima. Only for orbits with a `period()` (SO(2)); others are refused as a broken precondition.
class AngleScan final : public Search {
 public:
  explicit AngleScan(const AngleScanOptions& options = {});
  std::string_view name() const override { return "scan"; }
  bool fits(const Orbit& orbit) const override { return orbit.period() > 0.0; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;

 private:
  AngleScanOptions options_;
};

}  // namespace symport
