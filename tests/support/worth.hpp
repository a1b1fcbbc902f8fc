// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/objective.hpp"
#include "symport/search/teleport_objective.hpp"

namespace symport::testing {

/// L, J = |dL/dw|^2 and Phi = (dL/dw)'H(dL/dw) of a point, from the objective alone.
struct PointNumbers {
  double loss, grad_sq, curvature;
};

inline PointNumbers numbers_at(const Objective& objective, In<double> w) {
  Vector g(w.size()), Hg(w.size());
  const double loss = objective.gradient(w, g);
  objective.hessian_vector(w, g, Hg);
  return {loss, g.squaredNorm(), g.dot(Hg)};
}

/// The three objectives of a teleport that are functions of J and Phi, from their definitions.
inline double worth(ObjectiveKind kind, double eta, const PointNumbers& at) {
  switch (kind) {
    case ObjectiveKind::gradient_norm:
      return at.grad_sq;
    case ObjectiveKind::predicted_decrease:
      return eta * at.grad_sq - 0.5 * eta * eta * at.curvature;
    case ObjectiveKind::decrement:
      return at.grad_sq * at.grad_sq / (2.0 * at.curvature);
    case ObjectiveKind::sharpness:  // not functions of these
    case ObjectiveKind::weight_norm:
      break;
  }
  return 0.0;
}

inline constexpr ObjectiveKind all_objective_kinds[] = {
    ObjectiveKind::gradient_norm, ObjectiveKind::predicted_decrease, ObjectiveKind::decrement};

}  // namespace symport::testing
