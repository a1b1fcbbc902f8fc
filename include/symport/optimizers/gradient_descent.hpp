// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// w <- w - eta dL/dw with a given eta.
template <Real Scalar = double>
class GradientDescent final : public FirstOrderOptimizer<Scalar> {
 public:
  std::string_view name() const override { return "gd"; }
  OptimizerState<Scalar> init(Index) const override { return {}; }
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  void update(In<Scalar>, In<Scalar> gradient, double learning_rate, const StateRange<Scalar>&,
              Out<Scalar> u) const override {
    u = static_cast<Scalar>(learning_rate) * gradient;
  }
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;
  bool plain_gradient_step() const override { return true; }
  double amplification() const override { return 1.0; }
};

}  // namespace symport
