// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "symport/core/random.hpp"
#include "symport/objectives/objective.hpp"

namespace symport {

/// What the quadratic model says of the step u that the optimizer would take at an orbit point.
struct StepForecast {
  double slope = 0.0;  ///< <dL/dw, u>
  double bend = 0.0;   ///< u' H u
  /// <dL/dw, u> - u'Hu/2: how much the loss is predicted to fall.
  double decrease() const { return slope - 0.5 * bend; }
};

/// Whether an orbit knows the maximiser of a criterion without iterating.
enum class ClosedForm {
  none,     ///< no
  point,    ///< yes: `solve` goes there
  bounded,  ///< yes, within a bound kappa on the group element; the criterion chooses kappa
};

/// The quantities that a closed form may maximise, as a function of J and the step eta.
enum class ObjectiveKind {
  gradient_norm,       ///< J = |dL/dw|^2, the paper's objective
  predicted_decrease,  ///< D = eta J - eta^2 Phi / 2, for a given learning rate
  decrement,           ///< D* = J^2 / (2 Phi), for steps of length J / Phi
};

/// The one interface that a search sees: a movable point on the orbit {g.w} of a parameter vector.
///
/// There is a *current* point and a *base* point. `aim` makes the current point the base and
/// computes an ascent direction there; `move(length)` puts the current point on the curve that
/// leaves the base in that direction. At first both are the start. Lengths are scale-free: the
/// Lie-algebra element has norm `length`, so 0.1 is a rotation by 0.1 rad or a linear map 10 % away
/// from the identity.
/// Every number is computed when first asked for at a point, and kept.
///
/// J = |dL/dw|^2 and Phi = (dL/dw)' H (dL/dw) throughout.
class Orbit {
 public:
  virtual ~Orbit() = default;

  /// The loss at the start, if the orbit has evaluated it already.
  virtual std::optional<double> start_loss() const { return std::nullopt; }
  /// J at the current point.
  virtual double grad_sq() = 0;
  /// Phi at the current point.
  virtual double curvature() = 0;
  /// The optimizer's own next step from the current point, when it is not plain gradient descent
  /// (`has_forecast`).
  virtual StepForecast forecast() = 0;
  virtual bool has_forecast() const = 0;
  /// The largest eigenvalue of the Hessian at the current point (a few Lanczos steps).
  virtual double largest_curvature() = 0;
  /// The loss where the next step from the current point really ends: the optimizer's own step, or
  /// learning_rate * gradient.
  virtual double next_loss(double learning_rate) = 0;

  /// Base <- current; direction <- gradient of `weight_grad_sq * J + weight_curvature * Phi` in the
  /// Lie algebra there. Returns the direction's norm (0: a critical point, nothing to follow).
  virtual double aim(double weight_grad_sq, double weight_curvature) = 0;
  /// Current <- exp(length * direction / norm) . base. False when that leaves the action's domain;
  /// the current point is then the base.
  virtual bool move(double length) = 0;
  /// Current <- base.
  void back() { move(0.0); }

  /// Length after which `move` comes round again; 0 unless the group is a circle.
  virtual double period() const { return 0.0; }
  virtual ClosedForm closed_form() const { return ClosedForm::none; }
  /// Base <- current <- the maximiser over the orbit through the start. `eta` is the learning rate;
  /// `kappa >= 1` bounds the group element where `closed_form()` is `bounded`.
  virtual void solve(ObjectiveKind objective, double eta, double kappa);
  /// Base <- current <- a random element applied to the start. Compact groups draw from their
  /// invariant distribution and ignore `spread`; others draw near the identity, at distance about
  /// `spread`. False when it cannot draw or left the domain: current is then the base or the start.
  virtual bool randomize(Random& random, double spread);
  virtual bool compact() const { return false; }

  /// Condition number of the group element from the start to the current point.
  virtual double condition() const = 0;
  /// Work done so far, in units of one gradient of the objective.
  virtual double evaluations() const = 0;
  /// What a certificate should say of this orbit beyond its numbers; usually nothing.
  virtual std::string note() const { return {}; }
};

/// u <- the step that the optimizer would take at parameters w with this gradient (w <- w - u).
template <Real Scalar>
using NextStep = std::function<void(In<Scalar> w, In<Scalar> gradient, Out<Scalar> u)>;

/// An orbit through a flat parameter vector of a given precision.
template <Real Scalar>
class BasicOrbit : public Orbit {
 public:
  ~BasicOrbit() override;

  /// w <- the current point.
  virtual void commit(Out<Scalar> w) = 0;
  /// covector <- J^-T covector, J the Jacobian of the action from the start to the current point:
  /// the way in which gradients move (Prop. 5.1). False when the symmetry cannot transport.
  virtual bool transport(Out<Scalar> covector) const;

  /// The objective at the current point, whose loss the orbit keeps. It is the one that the orbit
  /// was made for, except for actions that move data too and orbits that keep a part of a batch
  /// only.
  virtual const BasicObjective<Scalar>& objective() const { return objective_; }
  /// The objective at the start: the same one, except for actions that move data too.
  virtual const BasicObjective<Scalar>& start_objective() const { return objective(); }

  void set_next_step(NextStep<Scalar> next_step) { next_step_ = std::move(next_step); }
  bool has_forecast() const override { return static_cast<bool>(next_step_); }
  StepForecast forecast() override;
  /// The same from parameters w of the current point and the gradient measured there. Charged with
  /// a curvature; nothing is kept. Requires `has_forecast`.
  StepForecast forecast_from(In<Scalar> w, In<Scalar> gradient);
  double largest_curvature() override;
  double next_loss(double learning_rate) override;
  double evaluations() const override { return evaluations_; }

 protected:
  /// `objective` must outlive the orbit.
  explicit BasicOrbit(const BasicObjective<Scalar>& objective);

  /// To be called whenever the current point moves: forgets the numbers kept here.
  void point_changed();
  /// gradient <- dL/dw at the current point, whose parameters are w. The default evaluates it;
  /// orbits that know it already say so here.
  virtual void current_gradient(In<Scalar> w, Out<Scalar> gradient);
  /// What is around the current point. The default asks the objective; orbits that know a faster
  /// way have their own.
  virtual std::unique_ptr<LocalCurvature<Scalar>> make_local_curvature();
  /// Adds to `evaluations()` what the objective was asked for.
  void charge(double gradients) { evaluations_ += gradients; }
  /// Adds work that the objective has not seen, as it was done on the states of its network.
  void charge_states(double gradients);

 private:
  LocalCurvature<Scalar>& local_curvature();

  const BasicObjective<Scalar>& objective_;
  NextStep<Scalar> next_step_;
  double evaluations_ = 0.0;
  std::optional<StepForecast> forecast_;
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature_;
};

}  // namespace symport
