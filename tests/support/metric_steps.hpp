// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/metric_round_trip.hpp"

namespace symport::testing {

/// Metric round trips of gradient descent without checks of theta.
template <Real Scalar>
MetricRoundTrip<Scalar> unchecked_trip(std::optional<double> damping = std::nullopt) {
  return MetricRoundTrip<Scalar>(std::make_shared<GradientDescent<Scalar>>(),
                                 {.damping = damping, .check_every = 0});
}

/// u of a first step.
template <Real Scalar>
VectorOf<Scalar> direction_at(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& w,
                              std::optional<double> damping = std::nullopt) {
  const auto trip = unchecked_trip<Scalar>(damping);
  OptimizerState<Scalar> state = trip.init(w.size());
  MeasuredPoint<Scalar> here;
  trip.measure(objective, w, here);
  VectorOf<Scalar> u(w.size());
  trip.direction(objective, here, w, state, u);
  return u;
}

/// A first step in place; returns the loss before it.
template <Real Scalar>
double step_once(const BasicObjective<Scalar>& objective, VectorOf<Scalar>& w, double theta,
                 std::optional<double> damping = std::nullopt) {
  const auto trip = unchecked_trip<Scalar>(damping);
  OptimizerState<Scalar> state = trip.init(w.size());
  MeasuredPoint<Scalar> here;
  trip.measure(objective, w, here);
  trip.step(objective, here, theta, state, w);
  return here.loss;
}

}  // namespace symport::testing
