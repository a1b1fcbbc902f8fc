// SPDX-License-Identifier: MIT
#include "symport/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport {

double quantile(std::vector<double> values, double part) {
  const bool known =
      std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  if (values.empty() || !known) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double place = std::clamp(part, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double rest = place - static_cast<double>(below);
  if (rest == 0.0) return values[below];
  return (1.0 - rest) * values[below] + rest * values[above];
}

}  // namespace symport
