// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "symport/search/certificate.hpp"
#include "symport/search/measures.hpp"
#include "symport/search/search.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// Largest drift of the loss at which a teleport is accepted.
template <Real Scalar>
constexpr double default_drift_tolerance() {
  return std::same_as<Scalar, double> ? 1e-8 : 1e-4;
}

/// The tolerance for a teleport along this symmetry when `tolerance` is requested: 0 means any
/// drift (infinity) where the action is not loss-invariant.
template <Real Scalar>
double drift_allowed(const BasicSymmetry<Scalar>& symmetry, double tolerance);

/// One teleport: search the orbit, measure the candidate on the parameters themselves, commit it to
/// `w` or refuse it. When refused, `w` is bit for bit what it was.
///
/// Loss, gradient and curvature are evaluated at the candidate's parameters (a gradient and a
/// curvature). It is refused when a parameter or one of them is not finite, when the loss drifts
/// (D11) by more than `tolerance`, when rounding the candidate's parameters alone could change the
/// loss by more than that (D12), when the search has preferred it by numbers that the parameters do
/// not confirm, and when the orbit keeps a part of the batch only (`Scope`) and the loss of the
/// whole would rise.
///
/// `orbit` must be an orbit of `objective` through `w`; losses are those of `orbit.objective()`.
/// `tolerance` 0 means the default of the precision; infinity accepts any drift (for actions that
/// are not loss-invariant). `next_step` is the step that the optimizer would take, where that is
/// not the learning rate times the gradient. `stored_as_float`: see TeleportOptions.
template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, BasicOrbit<Scalar>& orbit,
                     const Search& search, const CriterionOptions& criterion, Random& random,
                     Out<Scalar> w, double tolerance = 0.0, const NextStep<Scalar>& next_step = {},
                     bool stored_as_float = false);

/// How to teleport once, outside a run.
template <Real Scalar>
struct TeleportOptions {
  const BasicSymmetry<Scalar>* symmetry = nullptr;  ///< required
  const Search* search = nullptr;  ///< null: the best for the symmetry (AutoSearch)
  /// Of the steps that will follow; unset: each finds its own, the best along its gradient.
  std::optional<double> learning_rate = std::nullopt;
  /// Unset: `predicted_decrease` with a learning rate, `decrement` without one.
  std::optional<ObjectiveKind> objective = std::nullopt;
  const TeleportObjective* own_objective = nullptr;        ///< see CriterionOptions
  double bound = std::numeric_limits<double>::infinity();  ///< see CriterionOptions
  std::optional<double> cap = std::nullopt;                ///< see CriterionOptions
  /// Largest accepted drift of the loss; 0: 1e-8 in double, 1e-4 in float, and any for a symmetry
  /// that is not loss-invariant.
  double drift_tolerance = 0.0;
  NextStep<Scalar> next_step{};  ///< the optimizer's, where it is not the rate times the gradient
  std::uint64_t seed = 0;        ///< of random numbers in the search
  /// The parameters are kept as floats, whatever `Scalar` is: the candidate is rounded to floats
  /// before it is measured, and judged by the rounding and the tolerance of floats.
  bool stored_as_float = false;
};

/// The whole of one teleport: the orbit of w, the search on it, and w moved there or, with the
/// reason in the certificate, left as it was. Throws InvalidArgument when the symmetry does not
/// belong to the objective.
///
///   const PositiveScalingSymmetry<float> symmetry;
///   const Certificate c = teleport<float>(objective, w, {.symmetry = &symmetry,
///                                                        .learning_rate = 1e-2});
template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, Out<Scalar> w,
                     const TeleportOptions<Scalar>& options);

}  // namespace symport
