// SPDX-License-Identifier: MIT
#include "search/objectives.hpp"

namespace symport {

namespace {

/// J, the paper's objective.
class GradientNorm final : public TeleportObjective {
 public:
  std::string_view name() const override { return "gradient_norm"; }
  double value(PointMeasures& at) const override { return at.grad_sq(); }
  Slope slope(PointMeasures&) const override { return {.grad_sq = 1.0}; }
};

}  // namespace

const TeleportObjective& gradient_norm() {
  static const GradientNorm objective;
  return objective;
}

}  // namespace symport
