// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "symport/core/random.hpp"
#include "symport/objectives/objective.hpp"

namespace symport::testing {

/// The verdict of a checker, for a test to print.
struct CheckResult {
  bool passed = true;
  std::string detail;  ///< what was measured, and where it failed
  explicit operator bool() const { return passed; }
};

/// Is the gradient that of the value, at w, along a random direction v of unit length? The error of
/// the first-order Taylor polynomial, |L(w + e v) - L(w) - e <g, v>|, must fall like e^2: the slope
/// in a log-log fit over the smallest e before rounding takes over must be at least 1.9 (or the
/// error be at rounding level throughout, for functions that are affine along v). Where a check
/// fails, the detail names the entry that is off most (of a gradient with at most 10,000), counted
/// from 0, and the parameter where the objective is a BatchObjective. All checkers throw
/// InvalidArgument unless w has the objective's dimension.
CheckResult check_gradient(const Objective& objective, In<double> w, Random& random);

/// Likewise for H v against the gradient: |g(w + e v) - g(w) - e H v| must fall like e^2, or be
/// below 1e-8 of e |H v|, as for a quadratic with Hessian-vector products by differences.
CheckResult check_hessian_vector(const Objective& objective, In<double> w, Random& random);

/// Likewise for the third derivative against H: |H(w + e v) v - H(w) v - e t(v)|.
CheckResult check_third_derivative(const Objective& objective, In<double> w, Random& random);

}  // namespace symport::testing
