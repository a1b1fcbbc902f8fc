// SPDX-License-Identifier: MIT
#pragma once

#include "support/worth.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport::testing {

/// Sends an orbit to its family of candidates, or to the first candidate where there is none; false
/// when that is outside of its domain. `kind` and `eta` say what it is to be best for.
inline bool go_to_candidate(Orbit& orbit, double kappa = 1.0,
                            ObjectiveKind kind = ObjectiveKind::gradient_norm, double eta = 1.0) {
  const auto candidates = orbit.candidates([=](double grad_sq, double curvature) {
    return worth(kind, eta, {0.0, grad_sq, curvature});
  });
  for (const Candidate& candidate : candidates) {
    if (candidate.family) return candidate.go(kappa);
  }
  return !candidates.empty() && candidates.front().go(kappa);
}

}  // namespace symport::testing
