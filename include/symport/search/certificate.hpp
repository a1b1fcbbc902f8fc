// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "symport/core/types.hpp"

namespace symport {

/// What a teleport did, measured on the parameters themselves.
///
/// J = |dL/dw|^2, Phi = (dL/dw)' H (dL/dw).
struct Certificate {
  Index step = 0;  ///< the step (or epoch) before which the teleport was tried
  double loss_before = 0.0;
  double loss_after = 0.0;  ///< at the candidate, also when it was refused
  double drift = 0.0;       ///< relative change of the loss, see `drift()`
  double grad_sq_before = 0.0;
  double grad_sq_after = 0.0;
  double curvature_before = 0.0;  ///< Phi
  double curvature_after = 0.0;
  double condition = 1.0;    ///< of the group element
  double evaluations = 0.0;  ///< in gradients of the objective
  double seconds = 0.0;
  bool accepted = false;
  std::string reason;  ///< one line: what was done, or why the candidate was refused
};

/// Everything that the drift of a teleport is computed from.
struct DriftInput {
  double loss_before, loss_after;
  double grad_sq_before, grad_sq_after;
  double curvature_before, curvature_after;
  double norm_before, norm_after;  ///< |w|
};

/// |L' - L| / max(|L|, floor).
///
/// Rounding the parameters alone changes L by about r = u |dL/dw| |w| + u^2 |w|^2 (Phi/J) / 2 with
/// u the unit roundoff (the larger of both points counts). Near a minimum r exceeds |L| times any
/// useful tolerance, and a relative drift means nothing. So floor = 1000 r / tolerance: a change of
/// one r there counts as a thousandth of the tolerance, and far from a minimum the floor plays no
/// part.
double drift(const DriftInput& in, double unit_roundoff, double tolerance);

}  // namespace symport
