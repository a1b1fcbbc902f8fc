// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): u = Adam step + eta lambda w.
/// Because of the decay, its fixed points depend on the position on an orbit; the loss does not.
template <Real Scalar = double>
class AdamW final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit AdamW(const AdamWOptions& options = {});

  std::string_view name() const override { return "adamw"; }
  bool forgets() const override { return false; }
  double decoupled_decay(Index /*first*/) const override { return options_.weight_decay; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;
  void bound_moments(const StateRange<Scalar>& state) const override;

 private:
  AdamWOptions options_;
};

}  // namespace symport
