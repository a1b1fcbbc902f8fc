// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "symport/objectives/local_curvature.hpp"
#include "symport/objectives/objective.hpp"

namespace symport {

/// Lanczos steps for the largest eigenvalue: to a few per cent on networks, and exact up to this
/// dimension.
inline constexpr Index lanczos_steps = 12;
/// Residual of the Ritz vector, relative to the eigenvalue, at which fewer steps do.
inline constexpr double lanczos_tolerance = 0.02;

/// The local curvature of any objective, from Hessian-vector products.
template <Real Scalar>
class PlainCurvature final : public LocalCurvature<Scalar> {
 public:
  /// `objective` must outlive this object. The work behind a known gradient is not counted here.
  PlainCurvature(const BasicObjective<Scalar>& objective, In<Scalar> w,
                 KnownGradient<Scalar> known = {})
      : objective_(objective), w_(w), known_(std::move(known)) {}

  double largest_eigenvalue() override;
  double next_loss(double learning_rate) override;
  double evaluations() const override { return evaluations_; }

 private:
  VectorOf<Scalar> gradient();

  const BasicObjective<Scalar>& objective_;
  VectorOf<Scalar> w_;
  KnownGradient<Scalar> known_;
  std::optional<double> largest_;
  double evaluations_ = 0.0;
};

}  // namespace symport
