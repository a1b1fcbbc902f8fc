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
/// `orbit` must be an orbit of `objective` through `w`; losses are those of `orbit.objective()`.
/// `tolerance` 0 means the default of the precision; infinity accepts any drift (for actions that
/// are not loss-invariant).
template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, BasicOrbit<Scalar>& orbit,
                     const Search& search, const CriterionOptions& criterion, Random& random,
                     Out<Scalar> w, double tolerance = 0.0);

}  // namespace symport
