// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "symport/core/types.hpp"

namespace symport {

/// How a quantity F changes at a point of an orbit: dF = grad_sq dJ + curvature dPhi + <covector,
/// dw>, with J = |dL/dw|^2 and Phi = (dL/dw)' H (dL/dw).
///
/// Orbits differentiate J and Phi in their own, cheaper way; whatever else F depends on goes into
/// the covector, a derivative in the parameters.
struct Slope {
  double grad_sq = 0.0;
  double curvature = 0.0;
  std::optional<Vector> covector = std::nullopt;
};

}  // namespace symport
