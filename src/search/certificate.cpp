// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <algorithm>
#include <cmath>

namespace symport {

double drift(const DriftInput& in, double unit_roundoff, double tolerance) {
  const auto rounding = [&](double grad_sq, double curvature, double norm) {
    const double step = unit_roundoff * norm;
    const double along = grad_sq > 0.0 ? std::abs(curvature) / grad_sq : 0.0;
    return step * std::sqrt(grad_sq) + 0.5 * step * step * along;
  };
  const double r = std::max(rounding(in.grad_sq_before, in.curvature_before, in.norm_before),
                            rounding(in.grad_sq_after, in.curvature_after, in.norm_after));
  const double change = std::abs(in.loss_after - in.loss_before);
  const double scale = std::max(std::abs(in.loss_before), 1000.0 * r / tolerance);
  return change == 0.0 ? 0.0 : change / scale;
}

}  // namespace symport
