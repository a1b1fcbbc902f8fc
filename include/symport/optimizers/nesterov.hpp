// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct NesterovOptions {
  double momentum = 0.9;
};

/// Nesterov momentum in its gradient form: v <- mu v + g, u = eta (g + mu v).
template <Real Scalar = double>
class Nesterov final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit Nesterov(const NesterovOptions& options = {});

  std::string_view name() const override { return "nesterov"; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;
  double amplification() const override { return 1.0 / (1.0 - options_.momentum); }

 private:
  NesterovOptions options_;
};

}  // namespace symport
