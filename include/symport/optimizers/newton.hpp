// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct NewtonOptions {
  Index max_dimension = 512;  ///< the Hessian is formed and factorised
};

/// Damped Newton's method, u = eta |H|^-1 g, for small problems: H is built from n products and
/// diagonalised; |H| has the absolute eigenvalues (so u descends), none below 1e-12 of the largest.
/// eta = 1 is the classical step where H > 0. Where H = 0, u = eta g; where it is not finite, NaN.
template <Real Scalar = double>
class Newton final : public BasicOptimizer<Scalar> {
 public:
  explicit Newton(const NewtonOptions& options = {});

  std::string_view name() const override { return "newton"; }
  /// Throws InvalidArgument when the problem is larger than `max_dimension`.
  OptimizerState<Scalar> init(Index dimension) const override;
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  void preview(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
               double learning_rate, const OptimizerState<Scalar>& state,
               Out<Scalar> u) const override;
  double preview_evaluations(Index dimension) const override {
    return 2.0 * static_cast<double>(dimension);
  }

 private:
  NewtonOptions options_;
};

}  // namespace symport
