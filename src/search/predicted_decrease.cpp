// SPDX-License-Identifier: MIT
#include "search/objectives.hpp"

namespace symport {

namespace {

/// (D1): D = eta J - eta^2 Phi / 2, by how much a step of gradient descent lowers the quadratic
/// model. For another optimizer (D2), <dL/dw, u> - u'Hu/2 with the step u that it would take; its
/// slope is that of (D1) at the effective rate <dL/dw, u> / J.
class PredictedDecrease final : public TeleportObjective {
 public:
  std::string_view name() const override { return "predicted_decrease"; }
  double value(PointMeasures& at) const override {
    if (at.has_forecast()) return at.forecast().decrease();
    const double eta = at.learning_rate();
    return eta * at.grad_sq() - 0.5 * eta * eta * at.curvature();
  }
  Slope slope(PointMeasures& at) const override {
    const double eta = at.rate();
    return {.grad_sq = eta, .curvature = -0.5 * eta * eta};
  }
  /// The model sees one direction; repeated teleports at a fixed rate would raise lambda_max until
  /// gradient descent oscillates.
  double default_cap() const override { return 1.5; }
};

}  // namespace

const TeleportObjective& predicted_decrease() {
  static const PredictedDecrease objective;
  return objective;
}

}  // namespace symport
