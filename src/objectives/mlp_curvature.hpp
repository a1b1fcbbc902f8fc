// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "objectives/mlp_hessian.hpp"
#include "symport/objectives/local_curvature.hpp"

namespace symport {

/// The local curvature of a network from its Hessian in factors (see `MlpHessian`).
template <Real Scalar>
class MlpCurvature final : public LocalCurvature<Scalar> {
 public:
  /// Makes the local curvature that answers when the factors cannot: the gradient lies in so few
  /// eigenspaces that its Krylov space ends.
  using Fallback = std::function<std::unique_ptr<LocalCurvature<Scalar>>()>;

  /// `objective` must outlive this object.
  MlpCurvature(const MlpObjective<Scalar>& objective, In<Scalar> w, KnownGradient<Scalar> known);
  /// At the point of a Hessian that is there already.
  MlpCurvature(MlpHessian<Scalar> hessian, Fallback fallback);

  double largest_eigenvalue() override;
  double next_loss(double learning_rate) override;
  double evaluations() const override { return evaluations_; }

 private:
  VectorOf<Scalar> w_;  ///< what hessian_ refers to, if it was made here
  MlpHessian<Scalar> hessian_;
  Fallback fallback_;
  std::optional<double> largest_;
  double evaluations_ = 0.0;
};

}  // namespace symport
