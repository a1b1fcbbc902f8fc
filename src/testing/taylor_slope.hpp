// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "symport/testing/check_gradient.hpp"

namespace symport::testing {

/// Judges a remainder that must fall like e^2. `remainder(e)` is the error at step e, `scale` the
/// size of the quantities that were subtracted (rounding level: 1e-14 of it).
template <class Remainder>
CheckResult judge_slope(const std::string& subject, const Remainder& remainder, double scale) {
  const double floor = 1e-13 * std::max(scale, 1e-300);
  std::vector<double> logs_e, logs_r;
  bool all_small = true;
  for (double e = 1e-1; e > 1e-7; e *= 0.5) {
    const double r = remainder(e);
    if (!std::isfinite(r)) return {false, subject + ": a non-finite remainder"};
    if (r <= floor) continue;
    all_small = false;
    logs_e.push_back(std::log(e));
    logs_r.push_back(std::log(r));
  }
  if (all_small) return {true, subject + ": exact to rounding"};
  // The best slope over a window of five steps: large e may leave the quadratic regime, small e
  // drown in rounding; a wrong derivative has slope 1 (or 0) in every window.
  constexpr std::size_t window = 5;
  double best = 0.0;
  for (std::size_t i = 0; i + window <= logs_e.size(); ++i) {
    best =
        std::max(best, (logs_r[i + window - 1] - logs_r[i]) / (logs_e[i + window - 1] - logs_e[i]));
  }
  if (logs_e.size() < window && logs_e.size() >= 2) {
    best = (logs_r.back() - logs_r.front()) / (logs_e.back() - logs_e.front());
  }
  return {best >= 1.9, fmt::format("{}: Taylor slope {:.3f}, expected 2", subject, best)};
}

}  // namespace symport::testing
