// SPDX-License-Identifier: MIT
#include "search/objectives.hpp"

namespace symport {

namespace {

/// -lambda, lambda the largest eigenvalue of the Hessian H. With a unit eigenvector v of it,
/// lambda = v'Hv and dlambda = v' dH v, the third derivative of the loss along v, v and dw; where
/// lambda is a multiple eigenvalue that is the derivative of one of them.
class Sharpness final : public TeleportObjective {
 public:
  std::string_view name() const override { return "sharpness"; }
  double value(PointMeasures& at) const override { return -at.largest_curvature(); }
  Slope slope(PointMeasures& at) const override {
    return {.covector = -at.third_derivative(at.sharpest_direction())};
  }
};

}  // namespace

const TeleportObjective& sharpness() {
  static const Sharpness objective;
  return objective;
}

}  // namespace symport
