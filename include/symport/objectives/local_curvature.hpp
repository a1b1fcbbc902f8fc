// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/core/types.hpp"

namespace symport {

/// gradient <- dL/dw at some w, where the caller already knows it; empty: it is not known.
template <Real Scalar>
using KnownGradient = std::function<void(Out<Scalar> gradient)>;

/// What the landscape around one point w says about the next steps from there. An objective makes
/// it (`BasicObjective::local_curvature`), a model that knows a faster way than Hessian-vector
/// products makes its own.
template <Real Scalar>
class LocalCurvature {
 public:
  virtual ~LocalCurvature() = default;

  /// The largest eigenvalue of the Hessian at w by a few Lanczos steps: a lower bound, exact in a
  /// few dimensions and good to a few per cent on networks. NaN when the Hessian is not finite.
  virtual double largest_eigenvalue() = 0;
  /// L(w - learning_rate dL/dw).
  virtual double next_loss(double learning_rate) = 0;
  /// Work done so far, in gradients of the objective.
  virtual double evaluations() const = 0;
};

}  // namespace symport
