// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace symport {

/// What a point with these J = |dL/dw|^2 and Phi = (dL/dw)' H (dL/dw) is worth to a search; NaN
/// when more must be known.
using Worth = std::function<double(double grad_sq, double curvature)>;

/// A destination that an orbit knows without iterating (`Orbit::candidates`), or a family of them.
/// The orbit offers, a search scores and chooses. Good as long as the orbit lives.
struct Candidate {
  std::string name;  ///< for the certificate: "closed form"
  /// One destination for every kappa > 1, a bound on the group element; the family grows from the
  /// start at kappa = 1. Else kappa does not matter.
  bool family = false;
  /// Base <- current <- the destination. False when it leaves the action's domain; the current
  /// point is then the base.
  std::function<bool(double kappa)> go;
};

}  // namespace symport
