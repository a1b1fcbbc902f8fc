// SPDX-License-Identifier: MIT
#include "symport/search/fixed_ascent.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport {

FixedAscent::FixedAscent(const FixedAscentOptions& options) : options_(options) {
  if (options.steps < 1) {
    throw InvalidArgument("steps", fmt::format("{}", options.steps), "a whole number >= 1");
  }
  if (!(options.rate > 0 && std::isfinite(options.rate))) {
    throw InvalidArgument("rate", fmt::format("{}", options.rate), "a finite number > 0");
  }
}

SearchOutcome FixedAscent::run(Orbit& orbit, Criterion& criterion, Random& random) const {
  if (options_.random_start && orbit.period() > 0.0) {
    orbit.move(random.uniform(0.0, 0.5 * orbit.period()));
  } else if (options_.random_start && orbit.compact()) {
    orbit.randomize(random, 0.0);
  }
  for (Index step = 0; step < options_.steps; ++step) {
    const auto weights = criterion.weights(orbit);
    const double norm = orbit.aim(weights.grad_sq, weights.curvature);
    if (norm == 0.0) break;
    if (!orbit.move(options_.rate * norm)) {
      return {false, fmt::format("ascent step {} left the domain of the action", step)};
    }
  }
  return {true, "fixed ascent"};
}

}  // namespace symport
