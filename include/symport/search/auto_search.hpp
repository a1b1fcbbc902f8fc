// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/search.hpp"

namespace symport {

/// The best search for the symmetry, each with its defaults: the scan on a circle, the closed form
/// where there is one, and the ascent where there is none or where none of its points is better
/// than the start; the reason then says so.
class AutoSearch final : public Search {
 public:
  std::string_view name() const override { return "auto"; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const override;
};

}  // namespace symport
