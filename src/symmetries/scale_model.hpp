// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "symport/core/types.hpp"
#include "symport/symmetries/candidate.hpp"

namespace symport {

/// J and Phi of parameters in blocks, as functions of a few scales c_1 ... c_k, (W3) of
/// docs/mathematics/white_gauge.md:
///
///   J = sum_a tau_a J_a    Phi = sum_ab tau_a tau_b M_ab    log tau_a = sum_m E_am log c_m
///
/// where J_a = |G_a|^2 and M_ab = <G_a, H G_b> belong to c = 1, G_a the gradient in block a.
struct ScaleModel {
  Vector J;
  Matrix M;
  Matrix exponents;  ///< E, blocks x scales

  double grad_sq(const Vector& log_c) const;
  double curvature(const Vector& log_c) const;
};

/// log c where `worth(J, Phi)` is largest, up to a preference for small |log c| of a millionth: in
/// some models the supremum is approached at infinity. Nothing where that is no answer: the worth
/// has no finite value, or does not mind curvature and so has no bound.
std::optional<Vector> best_scales(const ScaleModel& model, const Worth& worth);

}  // namespace symport
