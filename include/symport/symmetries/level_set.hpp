// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/symmetry.hpp"

namespace symport {

struct LevelSetOptions {
  Index max_steps = 12;       ///< of the path that `candidates` offers
  double first_length = 0.1;  ///< of its first step, in units of |w|
  Index max_halvings = 8;     ///< of a step that does not gain
  double gain = 1e-4;         ///< Armijo's constant of the merit test
  double stationary = 1e-4;   ///< ends where the tangential part is this part of the whole
};

/// Teleportation without a symmetry (Mishkin, Bietti and Gower, 2024, "Level set teleportation: an
/// optimization perspective"): the "orbit" of w is the whole level set {v: L(v) = L(w)}, of which
/// the orbits of every symmetry are parts. It needs nothing but derivatives, so it works on any
/// smooth objective.
///
/// A step goes along the part of a direction that is tangential to the level set, and returns to it
/// by Newton's method along the gradient: never to a higher loss than that of the start, and lower
/// by a part of 1e-11 at most (1e-5 in float). A point from which that fails is not used, so no
/// search can leave the sublevel set, and one that finds nothing leaves the start as it was.
///
/// `candidates` (--search closed, auto) is a path by sequential linear programming: at every point
/// the linear model of log |dL/dw|, whose gradient is Hg / |g|^2, is maximised over a ball within
/// the linearised constraint, and the step is halved until the merit function gains what Armijo's
/// rule asks. As every point of the path satisfies the constraint, the merit function is log
/// |dL/dw| itself, without a penalty. The family's kappa bounds the growth of |dL/dw|; the
/// criterion chooses where on the path to stop. `aim` and `move` (--search ascent) do the same for
/// any teleport objective.
///
/// Where the paper above maximises over the sublevel set, this stays on its boundary: the loss is
/// kept, as by any teleport, and for convex losses the maximum is there.
///
/// Domain: where the gradient is not zero. Bound to the batch. Cost of a step: one Hessian-vector
/// product and three gradients or so. There is no group element, so an optimizer's state cannot be
/// transported.
template <Real Scalar = double>
class LevelSet final : public BasicSymmetry<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit LevelSet(const LevelSetOptions& options = {});

  std::string name() const override { return "level_set"; }
  bool bound_to_batch() const override { return true; }
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

 private:
  LevelSetOptions options_;
};

}  // namespace symport
