// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "symport/objectives/objective.hpp"

namespace symport {

/// What a teleport did, measured on the parameters themselves.
///
/// J = |dL/dw|^2, Phi = (dL/dw)' H (dL/dw).
struct Certificate {
  Index step = 0;  ///< updates made before it; Algorithms 1, 2 and 3 fill it in
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

/// By how much rounding the parameters can change the loss, (D10): r = u <|dL/dw|, |w|> + u^2
/// |d'Hd| / 2 with d_i = +-|w_i|, the signs those of dL/dw, and u the unit roundoff of `Scalar`.
/// Entry by entry: a product of norms would be far too large where layers differ in size. Costs a
/// gradient and a curvature.
template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w);

/// |L' - L| / max(|L|, floor), (D11).
///
/// Near a minimum the `rounding` r of L (`loss_rounding`) exceeds |L| times any useful tolerance,
/// and a relative drift means nothing. So floor = 1000 r / tolerance: a change of one r there
/// counts as a thousandth of the tolerance, and far from a minimum the floor plays no part.
double drift(double loss_before, double loss_after, double rounding, double tolerance);

}  // namespace symport
