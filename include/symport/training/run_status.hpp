// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace symport {

/// Why a run ended.
enum class RunStatus {
  step_limit,   ///< all steps were made
  converged,    ///< a stopping criterion was met, or the gradient is zero
  diverged,     ///< something is not finite, or mini-batches end at 1,000 times the first loss
  interrupted,  ///< the caller asked to stop
};

std::string_view to_string(RunStatus status);

}  // namespace symport
