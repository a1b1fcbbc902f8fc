// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport::testing {

/// Claims success wherever it is.
class Optimist final : public Search {
 public:
  std::string_view name() const override { return "optimist"; }
  SearchOutcome run(Orbit& orbit, Criterion&, Random&) const override {
    orbit.move(0.5);
    return {true, "claimed"};
  }
};

}  // namespace symport::testing
