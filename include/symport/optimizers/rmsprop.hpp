// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct RmsPropOptions {
  double decay = 0.99;
  double epsilon = 1e-8;
};

/// RMSprop: s <- rho s + (1 - rho) g^2, u = eta g / (sqrt(s) + epsilon).
template <Real Scalar = double>
class RmsProp final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit RmsProp(const RmsPropOptions& options = {});

  std::string_view name() const override { return "rmsprop"; }
  bool forgets() const override { return false; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;

 private:
  RmsPropOptions options_;
};

}  // namespace symport
