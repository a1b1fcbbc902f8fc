// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "symport/core/types.hpp"

namespace symport {

/// What the quadratic model says about the step u that the optimizer would take at a point.
struct StepForecast {
  double slope = 0.0;  ///< <dL/dw, u>
  double bend = 0.0;   ///< u' H u
  /// <dL/dw, u> - u'Hu/2: how much the loss is predicted to fall.
  double decrease() const { return slope - 0.5 * bend; }
};

/// What a teleport objective may ask about one point: numbers, and derivatives in the parameters to
/// build others from. Each is computed on first use. What is not known is NaN; asking for what
/// cannot be known throws std::logic_error.
class PointMeasures {
 public:
  virtual ~PointMeasures() = default;

  /// J = |dL/dw|^2
  virtual double grad_sq() = 0;
  /// Phi = (dL/dw)' H (dL/dw)
  virtual double curvature() = 0;
  /// eta of the steps that will follow.
  virtual double learning_rate() const = 0;
  /// The optimizer's own next step, where it is not plain gradient descent (`has_forecast`).
  virtual bool has_forecast() const { return false; }
  virtual StepForecast forecast();
  /// lambda_max, the largest eigenvalue of the Hessian, by a few Lanczos steps.
  virtual double largest_curvature();
  /// The loss where the next step really ends: the optimizer's own, or learning_rate * gradient.
  virtual double next_loss();

  /// |w|^2
  virtual double norm_sq();

  /// w
  virtual Vector parameters();
  /// A unit eigenvector of the Hessian for lambda_max.
  virtual Vector sharpest_direction();
  /// The third derivative of the loss along v, v and a free index: how v'Hv changes with w.
  virtual Vector third_derivative(const Vector& v);

  /// The effective rate: <dL/dw, u> / J for the optimizer's own step u, otherwise the learning
  /// rate.
  double rate();
};

/// A point about which only these numbers are known.
class KnownPoint final : public PointMeasures {
 public:
  KnownPoint(double grad_sq, double curvature, double learning_rate,
             std::optional<StepForecast> forecast = std::nullopt)
      : grad_sq_(grad_sq),
        curvature_(curvature),
        learning_rate_(learning_rate),
        forecast_(forecast) {}

  double grad_sq() override { return grad_sq_; }
  double curvature() override { return curvature_; }
  double learning_rate() const override { return learning_rate_; }
  bool has_forecast() const override { return forecast_.has_value(); }
  StepForecast forecast() override { return forecast_ ? *forecast_ : PointMeasures::forecast(); }

 private:
  double grad_sq_, curvature_, learning_rate_;
  std::optional<StepForecast> forecast_;
};

}  // namespace symport
