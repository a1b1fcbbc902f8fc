// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "symport/search/orbit_measurement.hpp"

namespace symport {

struct CriterionOptions {
  ObjectiveKind objective = ObjectiveKind::predicted_decrease;
  /// eta of the optimizer; unused by `decrement`. At 0 (the end of a schedule) no step decreases
  /// the loss and `predicted_decrease` finds no point better than another.
  double learning_rate = 1e-3;
  /// Only candidates with eta Phi / J <= bound (infinity: no bound).
  double bound = std::numeric_limits<double>::infinity();
  /// Only candidates with eta lambda_max(H) <= cap (or below 2 and not larger than at the start),
  /// and from which the real next step ends no higher than the one from the start: the quadratic
  /// model sees one direction and two derivatives only. Unset: `default_cap`. Infinity: none.
  std::optional<double> cap = std::nullopt;
  /// Only candidates with a decrement of at most this: where Phi comes near 0 the quadratic model
  /// promises more than there is to gain. `teleport` sets it to twice the loss, if that is > 0.
  double largest_decrement = std::numeric_limits<double>::infinity();
};

/// The cap when none is given: 1.5 for `predicted_decrease`, infinity (none) for the others.
double default_cap(ObjectiveKind objective);

/// What makes one orbit point better than another, and which points are allowed: (D1) to (D9)
/// of docs/mathematics/objectives.md. Made once per teleport; a search calls `begin` first.
///
/// With an optimizer other than plain gradient descent, `predicted_decrease` is that of its real
/// next step u: <dL/dw, u> - u'Hu/2, and eta is the effective rate <dL/dw, u> / J.
class Criterion {
 public:
  /// Throws InvalidArgument for a negative or non-finite rate, a non-positive bound or cap.
  explicit Criterion(const CriterionOptions& options);

  ObjectiveKind objective() const { return options_.objective; }
  /// Whether it looks at the optimizer's own next step, where there is one (`Orbit::forecast`).
  bool uses_forecast() const;
  /// The learning rate at a point, and at the orbit's current point.
  double rate(const OrbitMeasurement& at) const;
  double rate(Orbit& orbit) const;
  /// The objective at a point; NaN where it is undefined (Phi <= 0 for `decrement`).
  double value(const OrbitMeasurement& at) const;
  /// The same at the orbit's current point. The orbit is asked only for the numbers it takes.
  double value(Orbit& orbit) const;
  /// Whether a point of value `a` is preferred to one of value `b`: it must be finite, and a point
  /// without a value is worse than any that has one.
  static bool better(double a, double b);

  /// Partial derivatives of the objective in J and Phi at the current point.
  struct Weights {
    double grad_sq = 0.0;
    double curvature = 0.0;
  };
  Weights weights(Orbit& orbit) const;

  /// Remembers what other points are compared with: the value at the start, which it returns, and,
  /// with a cap, lambda_max and the next loss there.
  double begin(Orbit& orbit);
  /// Whether bound and cap hold at the current point.
  bool allows(Orbit& orbit) const;

  /// What is wrong with a candidate that a search has preferred to the start, by its measured
  /// numbers: no improvement on the start of `begin`, or beyond the bound or the largest decrement
  /// by more than the part `slack`. Empty: nothing. Does not repeat the cap.
  std::string objection(const OrbitMeasurement& candidate, double slack) const;

 private:
  CriterionOptions options_;
  double cap_;
  double start_value_ = std::numeric_limits<double>::quiet_NaN();
  double start_curvature_ = 0.0;
  double start_next_loss_ = 0.0;
};

std::string_view to_string(ObjectiveKind kind);

}  // namespace symport
