// SPDX-License-Identifier: MIT
#include "symport/search/auto_search.hpp"

#include "symport/search/angle_scan.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"

namespace symport {

SearchOutcome AutoSearch::run(Orbit& orbit, Criterion& criterion, Random& random) const {
  if (orbit.period() > 0.0) return AngleScan().run(orbit, criterion, random);
  if (orbit.has_candidates()) {
    return ClosedFormSearch().run(orbit, criterion, random);
  }
  return OrbitAscent().run(orbit, criterion, random);
}

}  // namespace symport
