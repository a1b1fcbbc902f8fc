// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symport/core/random.hpp"
#include "symport/core/state_kind.hpp"
#include "symport/objectives/objective.hpp"
#include "symport/symmetries/candidate.hpp"
#include "symport/symmetries/scope.hpp"
#include "symport/symmetries/slope.hpp"

namespace symport {

/// The geometry that a search sees: a movable point on the orbit {g.w} of a parameter vector.
///
/// There is a *current* point and a *base* point. `aim` makes the current point the base and
/// computes an ascent direction there; `move(length)` puts the current point on the curve that
/// leaves the base in that direction. At first both are the start. Lengths are scale-free: the
/// Lie-algebra element has norm `length`, so 0.1 is a rotation by 0.1 rad or a linear map 10 % away
/// from the identity.
/// Every number is computed on first use at a point, and cached.
///
/// J = |dL/dw|^2 and Phi = (dL/dw)' H (dL/dw) throughout: how they are evaluated, and their
/// derivatives, depends on the geometry. What is maximised, and the steps that follow a teleport,
/// are not an orbit's concern (see `TeleportObjective`).
class Orbit {
 public:
  virtual ~Orbit() = default;

  /// The loss at the start, if the orbit has evaluated it already.
  virtual std::optional<double> start_loss() const { return std::nullopt; }
  /// J at the current point.
  virtual double grad_sq() = 0;
  /// Phi at the current point.
  virtual double curvature() = 0;

  /// Base <- current; direction <- the gradient in the Lie algebra of a quantity with this slope
  /// there. Returns the direction's norm (0: a critical point, nothing to follow).
  virtual double aim(const Slope& slope) = 0;
  /// Current <- exp(length * direction / norm) . base. False when that leaves the action's domain;
  /// the current point is then the base.
  virtual bool move(double length) = 0;
  /// Current <- base.
  void back() { move(0.0); }
  /// Base <- current <- the start, for orbits that have candidates; for others the current point
  /// goes to the base.
  virtual void restart() { back(); }

  /// Length after which `move` comes round again; 0 unless the group is a circle.
  virtual double period() const { return 0.0; }
  /// Whether `candidates` has any.
  virtual bool has_candidates() const { return false; }
  /// The destinations that are known in closed form, on the orbit through the start. Where one has
  /// to be chosen among many by J and Phi alone, `worth` decides.
  virtual std::vector<Candidate> candidates(const Worth& worth);
  /// Base <- current <- a random element applied to the start. Compact groups draw from their
  /// invariant distribution and ignore `spread`; others draw near the identity, at distance about
  /// `spread`. False when it cannot draw or left the domain: current is then the base or the start.
  virtual bool randomize(Random& random, double spread);
  virtual bool compact() const { return false; }

  /// Condition number of the group element from the start to the current point.
  virtual double condition() const = 0;
  /// Work done so far, in units of one gradient of the objective.
  virtual double evaluations() const = 0;
  /// Where the loss is kept all along the orbit.
  virtual Scope scope() const { return {}; }
  /// What a certificate should say of this orbit beyond its numbers; usually nothing.
  virtual std::string note() const { return {}; }

  /// Changes whenever the current point has moved, for callers that cache what they know about it.
  std::uint64_t place() const { return place_; }

 protected:
  /// To be called whenever the current point moves.
  void point_changed() { ++place_; }

 private:
  std::uint64_t place_ = 0;
};

/// An orbit through a flat parameter vector of a given precision.
template <Real Scalar>
class BasicOrbit : public Orbit {
 public:
  /// w <- the current point.
  virtual void commit(Out<Scalar> w) = 0;
  /// Moves what belongs to the start to the current point, as its kind says (see StateKind): a
  /// covector, as gradients move (Prop. 5.1), unless another kind is named. False when there is no
  /// exact way; `values` are then unchanged.
  virtual bool transport(Out<Scalar> values, StateKind kind = StateKind::cotangent) const;

  /// The objective at the current point, whose loss the orbit keeps. It is the one that the orbit
  /// was made for, except for actions that also move data and orbits that keep only a part of a
  /// batch.
  virtual const BasicObjective<Scalar>& objective() const { return objective_; }
  /// The objective at the start: the same one, except for actions that also move data.
  virtual const BasicObjective<Scalar>& start_objective() const { return objective(); }
  /// gradient <- dL/dw at the current point, whose parameters are w. The default evaluates it;
  /// orbits that already know it return it here.
  virtual void current_gradient(In<Scalar> w, Out<Scalar> gradient);
  /// The landscape around the current point. The default asks the objective; orbits that know a
  /// faster way have their own. Valid until the point moves.
  virtual std::unique_ptr<LocalCurvature<Scalar>> local_curvature();

  double evaluations() const override { return evaluations_; }

  /// Whether the symmetry is what somebody says of the objective, and nothing has checked it: a
  /// refused teleport then tries whether the orbit keeps the loss at all.
  virtual bool stated() const { return false; }

 protected:
  /// `objective` must outlive the orbit.
  explicit BasicOrbit(const BasicObjective<Scalar>& objective) : objective_(objective) {}

  /// Adds to `evaluations()` what the objective was asked for.
  void charge(double gradients) { evaluations_ += gradients; }
  /// Adds work that the objective has not seen, as it was done on the states of its network.
  void charge_states(double gradients);

 private:
  const BasicObjective<Scalar>& objective_;
  double evaluations_ = 0.0;
};

}  // namespace symport
