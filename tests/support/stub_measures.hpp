// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/point_measures.hpp"

namespace symport::testing {

/// Measures that say what they are told to say.
class StubMeasures final : public PointMeasures {
 public:
  double J = 2.0, Phi = 3.0, eta = 0.1, lambda = 4.0, loss_next = 1.0;
  std::optional<StepForecast> step;

  double grad_sq() override { return J; }
  double curvature() override { return Phi; }
  double learning_rate() const override { return eta; }
  bool has_forecast() const override { return step.has_value(); }
  StepForecast forecast() override { return step.value(); }
  double largest_curvature() override { return lambda; }
  double next_loss() override { return loss_next; }
};

}  // namespace symport::testing
