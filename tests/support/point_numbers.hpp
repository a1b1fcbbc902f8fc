// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/objective.hpp"

namespace symport::testing {

/// J at w.
inline double grad_sq_at(const Objective& objective, const Vector& w) {
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  return gradient.squaredNorm();
}

/// Phi at w.
inline double curvature_at(const Objective& objective, const Vector& w) {
  Vector gradient(w.size()), product(w.size());
  objective.gradient(w, gradient);
  objective.hessian_vector(w, gradient, product);
  return gradient.dot(product);
}

}  // namespace symport::testing
