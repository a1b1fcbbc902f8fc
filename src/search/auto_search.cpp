// SPDX-License-Identifier: MIT
#include "symport/search/auto_search.hpp"

#include <fmt/format.h>

#include "symport/search/angle_scan.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"

namespace symport {

SearchOutcome AutoSearch::run(Orbit& orbit, Criterion& criterion, Random& random) const {
  if (orbit.period() > 0.0) return AngleScan().run(orbit, criterion, random);
  if (!orbit.has_candidates()) return OrbitAscent().run(orbit, criterion, random);
  const SearchOutcome closed = ClosedFormSearch().run(orbit, criterion, random);
  // An ascent from here would cost more than a destination that does not pay for itself.
  if (closed.improved || criterion.must_pay()) return closed;
  orbit.restart();
  SearchOutcome ascent = OrbitAscent().run(orbit, criterion, random);
  ascent.reason = fmt::format("{} (closed form: {})", ascent.reason, closed.reason);
  return ascent;
}

}  // namespace symport
