// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

struct ProdigyOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double first_distance = 1e-6;    ///< d_0; only its being too large does harm
  double distance_factor = 1.0;    ///< multiplies every estimate of d
  double weight_decay = 0.0;       ///< decoupled, as in AdamW
  bool unbiased = false;           ///< divide both moments by 1 - b^t, as Adam does
  bool safeguard_warm_up = false;  ///< s without eta: for schedules that begin near 0
};

/// Prodigy (Mishchenko and Defazio, 2023, Algorithm 4): Adam that estimates its own step length d,
/// the distance from the start w_0 to the solution. With b3 = sqrt(b2), eta = learning rate (1 by
/// default; a schedule multiplies it):
///
///   r <- b3 r + eta d^2/d_0 <g, w_0 - w>,   s <- b3 s + eta d^2/d_0 g
///   m <- b1 m + (1 - b1) d g,   v <- b2 v + (1 - b2) d^2 g^2
///   w <- w - eta d m / (sqrt(v) + d' epsilon),   d' = max(d, r / |s|_1)
///
/// d never falls, and the step still has the old one.
///
/// What is remembered of w_0 is w_0 - w, as a sum of steps: the first ones are a millionth of the
/// weights, and a difference would have none of their digits in float. <g, w_0 - w> does not depend
/// on the coordinates: with --state transport all of it moves along and d stays.
template <Real Scalar = double>
class Prodigy final : public WholeGradientOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument for an option out of range.
  explicit Prodigy(const ProdigyOptions& options = {});

  std::string_view name() const override { return "prodigy"; }
  bool forgets() const override { return false; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;

 private:
  ProdigyOptions options_;
};

}  // namespace symport
