// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// Adam (Kingma and Ba, 2015): m <- b1 m + (1 - b1) g, s <- b2 s + (1 - b2) g^2, both divided by
/// 1 - b^t, u = eta m / (sqrt(s) + epsilon).
template <Real Scalar = double>
class Adam final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit Adam(const AdamOptions& options = {});

  std::string_view name() const override { return "adam"; }
  bool forgets() const override { return false; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;
  void bound_moments(const StateRange<Scalar>& state) const override;

 private:
  AdamOptions options_;
};

}  // namespace symport
