// SPDX-License-Identifier: MIT
#include "symport/search/auto_search.hpp"

#include <fmt/format.h>

#include "symport/search/angle_scan.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"

namespace symport {

namespace {

/// The best of a few places on a circle: a scan that teleports can pay for.
SearchOutcome quick_scan(Orbit& orbit, Criterion& criterion) {
  constexpr int points = 16;
  double best = criterion.begin(), angle = 0.0;
  for (int i = 1; i < points; ++i) {
    const double trial = orbit.period() * i / points;
    if (!orbit.move(trial)) continue;
    const double value = criterion.value();
    if (!Criterion::better(value, best)) continue;
    best = value;
    angle = trial;
  }
  if (angle == 0.0 || !criterion.pays(best) || !orbit.move(angle) || !criterion.allows()) {
    orbit.back();
    return {false, "no place that was tried pays for the search and is allowed"};
  }
  return {true, fmt::format("the best of {} places, angle {:.6g}", points, angle), true};
}

}  // namespace

SearchOutcome AutoSearch::run(Orbit& orbit, Criterion& criterion, Random& random) const {
  if (orbit.period() > 0.0) {
    return criterion.must_pay() ? quick_scan(orbit, criterion)
                                : AngleScan().run(orbit, criterion, random);
  }
  if (!orbit.has_candidates()) {
    OrbitAscentOptions options;
    if (criterion.must_pay()) options.max_steps = options.max_backtracks = 3;
    return OrbitAscent(options).run(orbit, criterion, random);
  }
  const SearchOutcome closed = ClosedFormSearch().run(orbit, criterion, random);
  // An ascent from here would cost more than a destination that does not pay for itself.
  if (closed.improved || criterion.must_pay()) return closed;
  orbit.restart();
  SearchOutcome ascent = OrbitAscent().run(orbit, criterion, random);
  ascent.reason = fmt::format("{} (closed form: {})", ascent.reason, closed.reason);
  return ascent;
}

}  // namespace symport
