// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace symport {

/// The value below which a part (0 to 1) of the values lie, between two of them on the straight
/// line through both: with the values x_0 <= ... <= x_(n-1) in order it is x at part (n - 1).
/// Infinite values are in order; NaN where one of the values is NaN, or where there are none.
double quantile(std::vector<double> values, double part);

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace symport
