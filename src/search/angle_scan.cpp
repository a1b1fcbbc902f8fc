// SPDX-License-Identifier: MIT
#include "symport/search/angle_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

struct Candidate {
  double angle = 0.0;
  double score = -std::numeric_limits<double>::infinity();
};

/// Golden-section search for a maximum of `score` on [low, high]; the best point it evaluated.
template <class Score>
Candidate golden_section(const Score& score, double low, double high, Candidate best) {
  constexpr double ratio = 0.6180339887498949;
  double a = high - ratio * (high - low), b = low + ratio * (high - low);
  double score_a = score(a), score_b = score(b);
  const double width = high - low;
  const auto offer = [&](double angle, double value) {
    if (value > best.score) best = {angle, value};
  };
  offer(a, score_a);
  offer(b, score_b);
  while (high - low > 1e-9 * width) {
    if (score_a >= score_b) {
      high = b, b = a, score_b = score_a;
      a = high - ratio * (high - low);
      offer(a, score_a = score(a));
    } else {
      low = a, a = b, score_a = score_b;
      b = low + ratio * (high - low);
      offer(b, score_b = score(b));
    }
  }
  return best;
}

}  // namespace

AngleScan::AngleScan(const AngleScanOptions& options) : options_(options) {
  if (options.points < 8) {
    throw InvalidArgument("points", fmt::format("{}", options.points), "a whole number >= 8");
  }
  if (options.refinements < 0) {
    throw InvalidArgument("refinements", fmt::format("{}", options.refinements),
                          "a whole number >= 0");
  }
}

SearchOutcome AngleScan::run(Orbit& orbit, Criterion& criterion, Random&) const {
  const double period = orbit.period();
  if (!fits(orbit)) throw std::logic_error("AngleScan: the orbit is not a circle");
  const double start = criterion.begin(orbit);
  // A place that is not allowed, or has no value, is worse than any other.
  const auto score = [&](double angle) {
    if (!orbit.move(angle)) return -std::numeric_limits<double>::infinity();
    const double value = criterion.value(orbit);
    const bool admissible = std::isfinite(value) && criterion.allows(orbit);
    return admissible ? value : -std::numeric_limits<double>::infinity();
  };

  const auto points = static_cast<std::size_t>(options_.points);
  const double spacing = period / static_cast<double>(points);
  std::vector<Candidate> grid(points), peaks;
  for (std::size_t i = 0; i < points; ++i) {
    grid[i].angle = spacing * static_cast<double>(i);
    grid[i].score = score(grid[i].angle);
  }
  for (std::size_t i = 0; i < points; ++i) {
    const double left = grid[(i + points - 1) % points].score;
    const double right = grid[(i + 1) % points].score;
    if (std::isfinite(grid[i].score) && grid[i].score >= left && grid[i].score >= right) {
      peaks.push_back(grid[i]);
    }
  }
  std::sort(peaks.begin(), peaks.end(),
            [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  Candidate best;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const Candidate& peak = peaks[i];
    const Candidate refined =
        i < static_cast<std::size_t>(options_.refinements)
            ? golden_section(score, peak.angle - spacing, peak.angle + spacing, peak)
            : peak;
    if (refined.score > best.score) best = refined;
  }
  if (!std::isfinite(best.score)) {
    orbit.back();
    return {false, "no point of the orbit is allowed by the cap or bound"};
  }
  if (!Criterion::better(best.score, start)) {
    orbit.back();
    return {false, "no better point was found on the orbit"};
  }
  orbit.move(best.angle);
  return {true, fmt::format("global scan, angle {:.6g}", best.angle), true};
}

}  // namespace symport
