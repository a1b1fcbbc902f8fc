// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/orbit.hpp"

namespace symport::testing {

/// An orbit that says what it is told to say.
class StubOrbit final : public Orbit {
 public:
  double J = 2.0, Phi = 3.0, lambda = 4.0, loss_next = 1.0;
  std::optional<StepForecast> step;

  double grad_sq() override { return J; }
  double curvature() override { return Phi; }
  StepForecast forecast() override { return step.value(); }
  bool has_forecast() const override { return step.has_value(); }
  double largest_curvature() override { return lambda; }
  double next_loss(double) override { return loss_next; }
  double aim(double, double) override { return 0.0; }
  bool move(double) override { return true; }
  double condition() const override { return 1.0; }
  double evaluations() const override { return 0.0; }
};

}  // namespace symport::testing
