// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>

#include "symport/objectives/objective.hpp"
#include "symport/symmetries/scope.hpp"

namespace symport {

/// What a teleport did. Loss, J and Phi after it are evaluated at the candidate's parameters, not
/// taken from the orbit on which it was found.
///
/// J = |dL/dw|^2, Phi = (dL/dw)' H (dL/dw).
struct Certificate {
  Index step = 0;  ///< updates made before it; Algorithms 1, 2 and 3 fill it in
  double loss_before = 0.0;
  double loss_after = 0.0;  ///< at the candidate, also when it was refused
  double drift = 0.0;       ///< change of the loss as it is judged, see `drift()`
  double grad_sq_before = 0.0;
  double grad_sq_after = 0.0;
  double curvature_before = 0.0;  ///< Phi
  double curvature_after = 0.0;
  /// The largest stretch of the group element that was applied over its smallest: a property of the
  /// element (on networks, of the worst hidden layer), not of the parameters.
  double condition = 1.0;
  double evaluations = 0.0;  ///< in gradients of the objective
  double seconds = 0.0;
  bool accepted = false;
  std::string reason;  ///< one line: what was done, or why the candidate was refused
  Scope scope{};       ///< where the loss is kept; of an accepted teleport

  /// |L' - L| / |L|, regardless of rounding: 0 when nothing changed, infinity from a loss of 0.
  double relative_change() const;
  /// Whether the loss was so small that its change was judged by what rounding the starting
  /// parameters does to it (the floor of `drift()`), and not by |L|.
  bool at_rounding_level() const { return drift < relative_change(); }
};

/// The certificate of a teleport that was refused before it began: w stays, for this reason. It
/// costs a gradient and a curvature.
template <Real Scalar>
Certificate refused_certificate(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                std::string reason);

template <Real Scalar>
constexpr double unit_roundoff = 0.5 * std::numeric_limits<Scalar>::epsilon();

/// By how much rounding the parameters can change the loss, (D10): r = u <|dL/dw|, |w|> + u^2
/// |d'Hd| / 2 with d_i = +-|w_i| and u the `unit` roundoff of what stores them. Entry by entry: a
/// product of norms would be far too large where layers differ in size. The signs of d are those of
/// dL/dw; where the second term matters, near a minimum, those with every other one reversed are
/// also tried, and the larger d'Hd counts: in a narrow valley one of them runs along it. `gradient`
/// is dL/dw at w; costs a curvature, or two.
template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
                     double unit = unit_roundoff<Scalar>);
/// The same, at the cost of one more gradient.
template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w,
                     double unit = unit_roundoff<Scalar>);
/// The first of its two terms, which costs nothing.
template <Real Scalar>
double first_order_rounding(In<Scalar> w, In<Scalar> gradient, double unit = unit_roundoff<Scalar>);

/// max(|L|, floor), by which a change of the loss is divided, (D11).
///
/// Near a minimum the `rounding` r of L at the start (`loss_rounding`) exceeds |L| times any useful
/// tolerance, and a relative drift means nothing. So floor = 1000 r / tolerance: a change of one r
/// there counts as a thousandth of the tolerance, and far from a minimum the floor plays no part.
/// Only the start determines it: a destination with absurd weights would excuse any change. A floor
/// that is not finite is ignored.
double drift_scale(double loss_before, double rounding, double tolerance);

/// |L' - L| / drift_scale.
double drift(double loss_before, double loss_after, double rounding, double tolerance);

}  // namespace symport
