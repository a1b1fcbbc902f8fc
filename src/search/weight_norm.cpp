// SPDX-License-Identifier: MIT
#include "search/objectives.hpp"

namespace symport {

namespace {

/// -|w|^2. Where it is largest on the orbit of a rescaling, every hidden unit has as much weight on
/// its inputs as on its outputs, (S10); on that of a factor pair U'U = VV'.
class WeightNorm final : public TeleportObjective {
 public:
  std::string_view name() const override { return "weight_norm"; }
  double value(PointMeasures& at) const override { return -at.norm_sq(); }
  Slope slope(PointMeasures& at) const override { return {.covector = -2.0 * at.parameters()}; }
};

}  // namespace

const TeleportObjective& weight_norm() {
  static const WeightNorm objective;
  return objective;
}

}  // namespace symport
