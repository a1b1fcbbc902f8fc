// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/objective_bound.hpp"

namespace symport {

/// Scaled gradient descent (Tong, Ma and Chi, 2021, "Accelerating ill-conditioned low-rank matrix
/// estimation via scaled gradient descent") for L = |Y - U V|^2:
///
///   U <- U - eta G_U (V V')^-1,   V <- V - eta (U'U)^-1 G_V,   both from the old factors.
///
/// Its steps do not depend on the gauge, and their number near a solution does not depend on the
/// condition of Y. The factor pair's round trip without damping takes the same steps: this class is
/// the independent check of that, and the name that the literature knows. Their eta is for half of
/// this loss: their 1/2 is our `usual_rate`.
///
/// For MatrixFactorization alone, in double. A factor of lower rank makes the step infinite.
template <Real Scalar = double>
class ScaledGd final : public BasicOptimizer<Scalar>, public ObjectiveBound<Scalar> {
 public:
  static constexpr double usual_rate = 0.25;

  std::string_view name() const override { return "scaled_gd"; }
  OptimizerState<Scalar> init(Index) const override { return {}; }
  void require_fit(const BasicObjective<Scalar>& objective) const override;
  /// Throws InvalidArgument for an objective that does not fit.
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
};

}  // namespace symport
