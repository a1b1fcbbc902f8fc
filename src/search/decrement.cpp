// SPDX-License-Identifier: MIT
#include <cmath>

#include "search/objectives.hpp"

namespace symport {

namespace {

/// (D3): D* = J^2 / (2 Phi), the decrease of the best step length J / Phi. Undefined for Phi <= 0.
class Decrement final : public TeleportObjective {
 public:
  std::string_view name() const override { return "decrement"; }
  double value(PointMeasures& at) const override {
    const double J = at.grad_sq(), Phi = at.curvature();
    return Phi > 0.0 ? 0.5 * J * (J / Phi) : std::nan("");
  }
  Slope slope(PointMeasures& at) const override {
    // (D4). Where Phi <= 0 there is no best step length; a larger J is the way out.
    const double Phi = at.curvature();
    if (!(Phi > 0.0)) return {.grad_sq = 1.0};
    const double step = at.grad_sq() / Phi;
    return {.grad_sq = step, .curvature = -0.5 * step * step};
  }
  /// Every step finds its own length.
  bool at_given_rate() const override { return false; }
  /// (D9): where Phi comes near 0 the quadratic model promises more than there is to gain.
  std::optional<double> largest_value(double loss) const override {
    return loss > 0.0 ? 2.0 * loss : std::numeric_limits<double>::infinity();
  }
};

}  // namespace

const TeleportObjective& decrement() {
  static const Decrement objective;
  return objective;
}

}  // namespace symport
