// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

struct RandomDirectionOptions {
  std::uint64_t seed = 0;
};

/// A control: steps as long as those of gradient descent, in directions that know nothing.
///
///   w <- w - eta |g| u,   u uniform on the unit sphere
///
/// The direction is a function of the seed and the number of the step alone. What does no better
/// than this has learnt nothing from the gradient.
template <Real Scalar = double>
class RandomDirection final : public WholeGradientOptimizer<Scalar> {
 public:
  explicit RandomDirection(const RandomDirectionOptions& options = {}) : options_(options) {}

  std::string_view name() const override { return "random_direction"; }
  OptimizerState<Scalar> init(Index) const override { return {}; }
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;

 private:
  RandomDirectionOptions options_;
};

}  // namespace symport
