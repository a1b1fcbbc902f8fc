// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace symport {

/// The value below which a fraction `part` (0 to 1) of the values lie, interpolated linearly: with
/// the sorted values x_0 <= ... <= x_(n-1) it is x at index part * (n - 1). Infinite values are
/// allowed; NaN if one of the values is NaN, or if there are none.
double quantile(std::vector<double> values, double part);

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace symport
