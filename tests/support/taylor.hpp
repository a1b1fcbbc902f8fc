// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace symport::testing {

/// The order at which `remainder(e)` goes to 0 with e: the slope of log remainder over log e,
/// fitted to e = first, first/2, ..., first/32. A wrong derivative of order k shows as a slope of k
/// instead of k + 1. Remainders below `noise` are rounding; when fewer than three are above it,
/// infinity.
inline double taylor_slope(const std::function<double(double)>& remainder, double first,
                           double noise) {
  std::vector<double> x, y;
  for (int k = 0; k < 6; ++k) {
    const double e = std::ldexp(first, -k);
    const double r = std::abs(remainder(e));
    if (!std::isfinite(r)) return -std::numeric_limits<double>::infinity();
    if (r <= noise) break;
    x.push_back(std::log(e));
    y.push_back(std::log(r));
  }
  if (x.size() < 3) return std::numeric_limits<double>::infinity();
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy / xx;
}

}  // namespace symport::testing
