// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct AdaGradOptions {
  double epsilon = 1e-10;  ///< outside the root
};

/// AdaGrad (Duchi et al., 2011): s <- s + g^2, u = eta g / (sqrt(s) + epsilon).
template <Real Scalar = double>
class AdaGrad final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit AdaGrad(const AdaGradOptions& options = {});

  std::string_view name() const override { return "adagrad"; }
  bool forgets() const override { return false; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;

 private:
  AdaGradOptions options_;
};

}  // namespace symport
