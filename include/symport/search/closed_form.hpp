// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

struct ClosedFormOptions {
  double kappa =
      0.0;  ///< bound on the group element where one is needed; 0: chosen by the criterion
  double max_kappa = 64.0;  ///< the largest tried when kappa is 0
  /// Values of kappa tried, geometric between 1 and `max_kappa`; fewer when two in a row fall below
  /// the start.
  Index trials = 13;
};

/// Goes to the best of the destinations that the orbit knows in closed form (`Orbit::candidates`):
/// an eigenvector of a quadratic form; the best element within a bound kappa for factor pairs,
/// linear networks and positive rescaling. In a family the criterion picks kappa among `trials`
/// values, then refines once between the neighbours of the best.
class ClosedFormSearch final : public Search {
 public:
  explicit ClosedFormSearch(const ClosedFormOptions& options = {});
  std::string_view name() const override { return "closed"; }
  bool fits(const Orbit& orbit) const override { return orbit.has_candidates(); }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;

 private:
  ClosedFormOptions options_;
};

}  // namespace symport
