// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "symport/core/types.hpp"

namespace symport {

/// sum_i |a_i b_i|. In float short pieces are summed as they are, which is several times faster
/// than a cast to double, scaled by their largest entries, so that nothing overflows or underflows;
/// the pieces are added in double.
template <Real Scalar>
double absolute_dot(In<Scalar> a, In<Scalar> b) {
  if constexpr (std::same_as<Scalar, double>) return a.cwiseProduct(b).cwiseAbs().sum();
  constexpr Index piece = 256;
  const auto scale_of = [](const auto& x) {
    const Scalar largest = x.cwiseAbs().maxCoeff();
    return largest > Scalar(0) && std::isfinite(largest) ? largest : Scalar(1);
  };
  double sum = 0.0;
  for (Index first = 0; first < a.size(); first += piece) {
    const Index count = std::min(piece, a.size() - first);
    const auto x = a.segment(first, count), y = b.segment(first, count);
    const Scalar s = scale_of(x), t = scale_of(y);
    const Scalar part = ((x.array() / s) * (y.array() / t)).abs().sum();
    sum += static_cast<double>(part) * static_cast<double>(s) * static_cast<double>(t);
  }
  return sum;
}

}  // namespace symport
