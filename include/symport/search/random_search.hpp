// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

struct RandomSearchOptions {
  Index samples = 10;
  double spread = 0.5;        ///< of the random elements of a non-compact group
  bool keep_the_best = true;  ///< false: go to the first sample, good or bad
};

/// Random elements of the group: the search for discrete groups, and with `keep_the_best = false`
/// and one sample the neural teleportation of Armenta et al., which ignores the objective.
class RandomSearch final : public Search {
 public:
  explicit RandomSearch(const RandomSearchOptions& options = {});
  std::string_view name() const override { return "random"; }
  bool compares() const override { return options_.keep_the_best; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;

 private:
  RandomSearchOptions options_;
};

}  // namespace symport
