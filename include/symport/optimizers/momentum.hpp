// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct MomentumOptions {
  double momentum = 0.9;
};

/// Heavy ball: v <- mu v + g, u = eta v.
template <Real Scalar = double>
class Momentum final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit Momentum(const MomentumOptions& options = {});

  std::string_view name() const override { return "momentum"; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;
  double amplification() const override { return 1.0 / (1.0 - options_.momentum); }

 private:
  MomentumOptions options_;
};

}  // namespace symport
