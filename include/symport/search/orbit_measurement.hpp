// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>

#include "symport/symmetries/orbit.hpp"

namespace symport {

/// What is known of one point of an orbit: all that a criterion needs to put a value on it. The
/// numbers come from the orbit during a search, and from the parameters in a certificate.
struct OrbitMeasurement {
  double grad_sq = std::numeric_limits<double>::quiet_NaN();    ///< J = |dL/dw|^2
  double curvature = std::numeric_limits<double>::quiet_NaN();  ///< Phi = (dL/dw)' H (dL/dw)
  /// Of the optimizer's own next step, when it is not plain gradient descent.
  std::optional<StepForecast> forecast = std::nullopt;
};

}  // namespace symport
