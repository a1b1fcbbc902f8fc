// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/certificate.hpp"
#include "symport/search/search.hpp"

namespace symport {

/// Largest drift of the loss at which a teleport is accepted.
template <Real Scalar>
constexpr double default_drift_tolerance() {
  return std::same_as<Scalar, double> ? 1e-8 : 1e-4;
}

/// One teleport: search the orbit, measure the candidate on the parameters themselves, commit it to
/// `w` or refuse it. When refused, `w` is bit for bit what it was.
///
/// Loss, gradient and curvature are evaluated at the candidate's parameters (a gradient and a
/// curvature). It is refused when one of them is not finite, when the loss drifts (D11) by more
/// than `tolerance`, when rounding the candidate's parameters alone could change the loss by more
/// than that (D12), and when the search has preferred it by numbers that the parameters do not
/// confirm.
///
/// `orbit` must be an orbit of `objective` through `w`; losses are those of `orbit.objective()`.
/// `tolerance` 0 means the default of the precision; infinity accepts any drift (for actions that
/// are not loss-invariant).
template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, BasicOrbit<Scalar>& orbit,
                     const Search& search, const CriterionOptions& criterion, Random& random,
                     Out<Scalar> w, double tolerance = 0.0);

}  // namespace symport
