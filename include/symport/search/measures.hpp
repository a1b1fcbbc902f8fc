// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "symport/search/point_measures.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// u <- the step that the optimizer would take at parameters w with this gradient (w <- w - u).
template <Real Scalar>
using NextStep = std::function<void(In<Scalar> w, In<Scalar> gradient, Out<Scalar> u)>;

/// The measures of a point that has parameters.
template <Real Scalar>
class Measures : public PointMeasures {
 public:
  double learning_rate() const final { return learning_rate_; }
  bool has_forecast() const final { return static_cast<bool>(next_step_); }
  StepForecast forecast() final;
  double largest_curvature() final;
  double next_loss() final;
  double norm_sq() final;
  Vector parameters() final;
  Vector sharpest_direction() final;
  Vector third_derivative(const Vector& v) final;

  /// Work done so far, in gradients, beyond what the source of the point counts itself.
  double evaluations() const { return evaluations_; }

 protected:
  /// If `next_step` is empty, the optimizer's step is learning_rate * gradient.
  Measures(double learning_rate, NextStep<Scalar> next_step);

  virtual const BasicObjective<Scalar>& objective() const = 0;
  virtual void point(Out<Scalar> w) = 0;
  virtual void gradient(In<Scalar> w, Out<Scalar> gradient) = 0;
  virtual std::unique_ptr<LocalCurvature<Scalar>> local_curvature() = 0;
  /// Called before any answer: forgets what belongs to another point.
  virtual void update() {}
  void forget();
  void charge(double gradients) { evaluations_ += gradients; }

 private:
  /// What the local curvature answers to a question; its cost is charged.
  template <class Ask>
  double ask_local(const Ask& ask);

  double learning_rate_;
  NextStep<Scalar> next_step_;
  double evaluations_ = 0.0;
  std::optional<StepForecast> forecast_;
  std::unique_ptr<LocalCurvature<Scalar>> local_;
};

/// The measures of an orbit's current point.
template <Real Scalar>
class OrbitMeasures final : public Measures<Scalar> {
 public:
  /// `orbit` must outlive this object.
  OrbitMeasures(BasicOrbit<Scalar>& orbit, double learning_rate, NextStep<Scalar> next_step = {});

  double grad_sq() override { return orbit_.grad_sq(); }
  double curvature() override { return orbit_.curvature(); }

 private:
  const BasicObjective<Scalar>& objective() const override { return orbit_.objective(); }
  void point(Out<Scalar> w) override { orbit_.commit(w); }
  void gradient(In<Scalar> w, Out<Scalar> gradient) override;
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature() override;
  void update() override;

  BasicOrbit<Scalar>& orbit_;
  std::uint64_t place_;
};

/// The measures of given parameters, from the objective itself.
template <Real Scalar>
class ParameterMeasures final : public Measures<Scalar> {
 public:
  /// Evaluates loss and gradient. `objective` must outlive this object.
  ParameterMeasures(const BasicObjective<Scalar>& objective, In<Scalar> w, double learning_rate,
                    NextStep<Scalar> next_step = {});

  double loss() const { return loss_; }
  const VectorOf<Scalar>& gradient() const { return gradient_; }
  double grad_sq() override { return grad_sq_; }
  double curvature() override;

 private:
  const BasicObjective<Scalar>& objective() const override { return objective_; }
  void point(Out<Scalar> w) override { w = w_; }
  void gradient(In<Scalar>, Out<Scalar> gradient) override { gradient = gradient_; }
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature() override;

  const BasicObjective<Scalar>& objective_;
  VectorOf<Scalar> w_, gradient_;
  double loss_, grad_sq_;
  std::optional<double> curvature_;
};

}  // namespace symport
