// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// w <- w - eta dL/dw with a given eta.
template <Real Scalar = double>
class GradientDescent final : public BasicOptimizer<Scalar> {
 public:
  std::string_view name() const override { return "gd"; }
  OptimizerState<Scalar> init(Index) const override { return {}; }
  StepOutcome step(const BasicObjective<Scalar>& objective, double loss, In<Scalar> gradient,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  void preview(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
               double learning_rate, const OptimizerState<Scalar>& state,
               Out<Scalar> u) const override;
  bool plain_gradient_step() const override { return true; }
  double amplification() const override { return 1.0; }
};

}  // namespace symport
