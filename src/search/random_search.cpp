// SPDX-License-Identifier: MIT
#include "symport/search/random_search.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "symport/core/invalid_argument.hpp"

namespace symport {

RandomSearch::RandomSearch(const RandomSearchOptions& options) : options_(options) {
  if (options.samples < 1) {
    throw InvalidArgument("samples", fmt::format("{}", options.samples), "a whole number >= 1");
  }
  if (!(options.spread > 0 && std::isfinite(options.spread))) {
    throw InvalidArgument("spread", fmt::format("{}", options.spread), "a finite number > 0");
  }
}

SearchOutcome RandomSearch::run(Orbit& orbit, Criterion& criterion, Random& random) const {
  if (!options_.keep_the_best) {
    if (!orbit.randomize(random, options_.spread)) return {false, "the orbit cannot draw elements"};
    return {true, "a random element"};
  }
  double best = criterion.begin(orbit);
  std::optional<Random::State> winner;
  Index drawn = 0;
  for (Index i = 0; i < options_.samples; ++i) {
    const Random::State before = random.state();
    if (!orbit.randomize(random, options_.spread)) continue;
    ++drawn;
    const double value = criterion.value(orbit);
    if (!Criterion::better(value, best) || !criterion.allows(orbit)) continue;
    best = value;
    winner = before;
  }
  if (drawn == 0) return {false, "the orbit cannot draw elements"};
  if (!winner) return {false, fmt::format("none of {} random elements is better", drawn)};
  Random replay(*winner);
  orbit.randomize(replay, options_.spread);
  return {true, fmt::format("best of {} random elements", drawn), true};
}

}  // namespace symport
