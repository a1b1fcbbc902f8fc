// SPDX-License-Identifier: MIT
#pragma once

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct CurvatureDescentOptions {
  double sufficient_decrease = 1e-4;  ///< Armijo's constant
  double shrink = 0.5;
  Index max_backtracks = 40;
};

/// Gradient descent that measures its own step: eta = J / Phi, the minimiser of the quadratic model
/// along the gradient, then backtracking until L(w - eta g) <= L(w) - c eta J. Where Phi <= 0 the
/// step starts from twice the last length (the given learning rate the first time).
template <Real Scalar = double>
class CurvatureDescent final : public BasicOptimizer<Scalar> {
 public:
  explicit CurvatureDescent(const CurvatureDescentOptions& options = {});

  std::string_view name() const override { return "gd"; }
  OptimizerState<Scalar> init(Index dimension) const override;
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  bool automatic_rate() const override { return true; }
  const CurvatureDescentOptions& options() const { return options_; }

 private:
  double first_rate(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
                    double learning_rate, double last_rate, Out<Scalar> work) const;
  CurvatureDescentOptions options_;
};

}  // namespace symport
