// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "symport/testing/check_gradient.hpp"

namespace symport::testing {

/// Judges a remainder that must fall like e^2. `remainder(e)` is the error at step e, `scale` the
/// size of the quantities that were subtracted.
///
/// The slope counts at the smallest steps, where a wrong derivative leaves a remainder of first
/// order; at large ones the higher orders hide it. Rounding ends the range: its level is read off
/// at steps far too small for the remainder of a right derivative.
template <class Remainder>
CheckResult judge_slope(const std::string& subject, const Remainder& remainder, double scale) {
  double noise = 0.0;
  for (const double e : {1.0e-10, 1.3e-10, 1.9e-10, 2.3e-10}) noise = std::max(noise, remainder(e));
  const double floor = std::max({30.0 * noise, 1e-14 * scale, 1e-300});
  std::vector<double> logs_e, logs_r;
  for (double e = 1e-1; e > 1e-7; e *= 0.5) {
    const double r = remainder(e);
    if (!std::isfinite(r)) return {false, subject + ": a non-finite remainder"};
    if (r <= floor) break;
    logs_e.push_back(std::log(e));
    logs_r.push_back(std::log(r));
  }
  if (logs_e.size() < 2) return {true, subject + ": exact to rounding"};
  const auto slope = [&](std::size_t from, std::size_t to) {
    return (logs_r[to] - logs_r[from]) / (logs_e[to] - logs_e[from]);
  };
  constexpr std::size_t window = 5;  // points of one fit
  const std::size_t last = logs_e.size() - 1;
  double best = slope(last - std::min(last, window - 1), last);
  // Two tries further up, should the last points still feel the rounding.
  for (std::size_t back = 1; back <= 2 && last >= back + window - 1; ++back) {
    best = std::max(best, slope(last - back - (window - 1), last - back));
  }
  return {best >= 1.9, fmt::format("{}: Taylor slope {:.3f}, expected 2", subject, best)};
}

}  // namespace symport::testing
