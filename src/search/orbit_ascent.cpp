// SPDX-License-Identifier: MIT
#include "symport/search/orbit_ascent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport {

OrbitAscent::OrbitAscent(const OrbitAscentOptions& options) : options_(options) {
  const auto require = [](bool ok, const char* field, double value, const char* allowed) {
    if (!ok) throw InvalidArgument(field, fmt::format("{}", value), allowed);
  };
  require(options.max_steps >= 1, "max_steps", static_cast<double>(options.max_steps),
          "a whole number >= 1");
  require(options.step_size > 0 && std::isfinite(options.step_size), "step_size", options.step_size,
          "a finite number > 0");
  require(options.growth >= 1, "growth", options.growth, "a number >= 1");
  require(options.shrink > 0 && options.shrink < 1, "shrink", options.shrink,
          "a number between 0 and 1");
  require(options.max_backtracks >= 0, "max_backtracks",
          static_cast<double>(options.max_backtracks), "a whole number >= 0");
  require(options.max_length >= options.step_size, "max_length", options.max_length,
          "a number >= step_size");
}

SearchOutcome OrbitAscent::run(Orbit& orbit, Criterion& criterion, Random&) const {
  double best = criterion.begin();
  double length = options_.step_size;
  Index accepted = 0;
  bool capped = false;
  for (Index step = 0; step < options_.max_steps; ++step) {
    if (orbit.aim(criterion.slope()) == 0.0) break;
    bool found = false;
    for (Index trial = 0; trial <= options_.max_backtracks; ++trial) {
      if (orbit.move(length)) {
        const double value = criterion.value();
        if (Criterion::better(value, best)) {
          if (criterion.allows()) {
            best = value;
            found = true;
            if (trial == 0) length = std::min(length * options_.growth, options_.max_length);
            break;
          }
          capped = true;
        }
      }
      length *= options_.shrink;
    }
    if (!found) {
      orbit.back();
      break;
    }
    ++accepted;
  }
  if (accepted == 0) {
    return {false, capped ? "better points exist, but " + criterion.refusal()
                          : "no better point was found on the orbit"};
  }
  return {true, fmt::format("{} ascent step{}", accepted, accepted == 1 ? "" : "s"), true};
}

}  // namespace symport
