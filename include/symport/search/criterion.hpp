// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "symport/core/interrupted.hpp"
#include "symport/search/teleport_objective.hpp"
#include "symport/symmetries/candidate.hpp"

namespace symport {

struct CriterionOptions {
  ObjectiveKind objective = ObjectiveKind::predicted_decrease;
  /// Your own quantity instead of `objective`. It must outlive the teleport.
  const TeleportObjective* own_objective = nullptr;
  /// eta of the optimizer; unused by `decrement`. At 0 (the end of a schedule) no step decreases
  /// the loss and `predicted_decrease` finds no point better than another.
  double learning_rate = 1e-3;
  /// Only candidates with eta Phi / J <= bound (infinity: no bound).
  double bound = std::numeric_limits<double>::infinity();
  /// Only candidates with eta lambda_max(H) <= cap (or below 2 and not larger than at the start),
  /// and from which the real next step ends no higher than the one from the start: the quadratic
  /// model sees only one direction and two derivatives. Unset: that of the objective
  /// (`default_cap`). Infinity: none.
  std::optional<double> cap = std::nullopt;
  /// The objective at a candidate, a decrease of the loss, must exceed twice what this many plain
  /// steps would gain by (D13). 0: any improvement will do.
  double pays_for = 0.0;
  /// Asked whenever a search asks for a value or a slope; where it says no, Interrupted is thrown.
  KeepGoing keep_going{};

  const TeleportObjective& chosen() const {
    return own_objective ? *own_objective : teleport_objective(objective);
  }
};

/// What makes one point better than another, and which points are allowed: (D1) to (D9)
/// of docs/mathematics/objectives.md, an objective with rules of acceptance. Made once per
/// teleport; a search calls `begin` first.
class Criterion {
 public:
  /// For the points that `here` measures one after the other, beginning with the start, on an orbit
  /// of loss `loss` (NaN: unknown; objectives then believe any value). `here` has the learning rate
  /// of the options and must outlive the criterion. Throws InvalidArgument for a negative or
  /// non-finite rate, a non-positive bound or cap.
  ///
  /// `start_curvature` is lambda_max at the start: it is asked for once, when the first point
  /// beyond the cap is compared with it, which few searches need. Without it, `begin` measures
  /// that.
  Criterion(const CriterionOptions& options, PointMeasures& here,
            double loss = std::numeric_limits<double>::quiet_NaN(),
            std::function<double()> start_curvature = {});

  /// The objective at the current point; NaN where it is undefined.
  double value();
  /// Its derivative there.
  Slope slope();
  /// The objective at a point of which J and Phi are known, and whose steps have the effective rate
  /// of the current one; NaN when more must be known.
  double worth(double grad_sq, double curvature);
  /// Everything about such points that an orbit may want to know.
  Worth preference();
  /// Whether a point of this value is worth going to: (D13), where that is required.
  bool pays(double value) const;
  bool must_pay() const { return pays_for_ > 0.0; }
  /// Whether a point of value `a` is preferred to one of value `b`: it must be finite, and a point
  /// without a value is worse than any that has one.
  static bool better(double a, double b);

  /// Remembers what other points are compared with: the value at the start, which it returns, and,
  /// with a cap, the next loss there.
  double begin();
  /// Whether bound and cap hold at the current point.
  bool allows();
  /// Why the last point that was not allowed was not, with its numbers.
  const std::string& refusal() const { return refusal_; }

  /// What is wrong with a candidate that a search has preferred to the start, by numbers measured
  /// on its parameters: no improvement on the start of `begin`, or beyond the bound or the largest
  /// value by more than the fraction `slack`. Empty: nothing. The cap is not checked again.
  std::string objection(PointMeasures& candidate, double slack) const;

 private:
  const TeleportObjective& objective_;
  PointMeasures& here_;
  double bound_;
  double cap_;  ///< infinity: none
  std::optional<double> largest_value_;
  double loss_;
  double pays_for_;
  KeepGoing keep_going_;
  double start_value_ = std::numeric_limits<double>::quiet_NaN();
  std::function<double()> ask_start_curvature_;
  std::optional<double> start_curvature_;
  double start_next_loss_ = 0.0;
  std::string refusal_;
};

}  // namespace symport
