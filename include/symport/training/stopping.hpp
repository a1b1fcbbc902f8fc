// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "symport/core/types.hpp"

namespace symport {

/// When to stop before the last step; any criterion that holds ends the run as `converged`. A
/// gradient of exactly zero always does.
struct Stopping {
  double loss_below = -std::numeric_limits<double>::infinity();  ///< L < this
  double grad_sq_below = 0.0;                                    ///< J < this
  double loss_change_below = 0.0;  ///< |L_t - L_{t-1}| < this (appendix D of the paper: 1e-3)

  bool operator()(Index step, double loss, double previous_loss, double grad_sq) const {
    return loss < loss_below || grad_sq < grad_sq_below ||
           (step > 0 && std::abs(loss - previous_loss) < loss_change_below);
  }
};

}  // namespace symport
