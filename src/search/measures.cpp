// SPDX-License-Identifier: MIT
#include "symport/search/measures.hpp"

#include <algorithm>
#include <utility>

#include "objectives/plain_curvature.hpp"
#include "search/absolute_dot.hpp"

namespace symport {

template <Real Scalar>
Measures<Scalar>::Measures(double learning_rate, NextStep<Scalar> next_step)
    : learning_rate_(learning_rate), next_step_(std::move(next_step)) {}

template <Real Scalar>
void Measures<Scalar>::forget() {
  forecast_.reset();
  local_.reset();
}

template <Real Scalar>
StepForecast Measures<Scalar>::forecast() {
  if (!next_step_) return PointMeasures::forecast();
  update();
  if (!forecast_) {
    const Index n = objective().dimension();
    VectorOf<Scalar> w(n), g(n), u(n);
    point(w);
    gradient(w, g);
    next_step_(w, g, u);
    forecast_ = StepForecast{static_cast<double>(g.dot(u)), objective().curvature(w, u)};
    charge(2.0);
  }
  return *forecast_;
}

template <Real Scalar>
template <class Ask>
double Measures<Scalar>::ask_local(const Ask& ask) {
  update();
  if (!local_) {
    local_ = local_curvature();
    charge(local_->evaluations());
  }
  const double before = local_->evaluations(), answer = ask(*local_);
  charge(local_->evaluations() - before);
  return answer;
}

template <Real Scalar>
double Measures<Scalar>::largest_curvature() {
  return ask_local([](LocalCurvature<Scalar>& local) { return local.largest_eigenvalue(); });
}

template <Real Scalar>
double Measures<Scalar>::next_loss() {
  if (!next_step_) {
    return ask_local(
        [this](LocalCurvature<Scalar>& local) { return local.next_loss(learning_rate_); });
  }
  const Index n = objective().dimension();
  VectorOf<Scalar> w(n), g(n), u(n);
  point(w);
  gradient(w, g);
  next_step_(w, g, u);
  w -= u;
  charge(0.5);
  return objective().value(w);
}

template <Real Scalar>
double Measures<Scalar>::norm_sq() {
  return parameters().squaredNorm();
}

template <Real Scalar>
Vector Measures<Scalar>::parameters() {
  VectorOf<Scalar> w(objective().dimension());
  point(w);
  return w.template cast<double>();
}

template <Real Scalar>
Vector Measures<Scalar>::sharpest_direction() {
  const Index n = objective().dimension();
  VectorOf<Scalar> w(n), g(n);
  point(w);
  gradient(w, g);
  charge(2.0 * static_cast<double>(std::min(n, lanczos_steps)));
  return largest_eigenpair<Scalar>(objective(), w, g, lanczos_steps).vector.template cast<double>();
}

template <Real Scalar>
Vector Measures<Scalar>::third_derivative(const Vector& v) {
  const Index n = objective().dimension();
  VectorOf<Scalar> w(n), result(n);
  point(w);
  objective().third_derivative(w, v.template cast<Scalar>(), result);
  charge(4.0);
  return result.template cast<double>();
}

template <Real Scalar>
OrbitMeasures<Scalar>::OrbitMeasures(BasicOrbit<Scalar>& orbit, double learning_rate,
                                     NextStep<Scalar> next_step)
    : Measures<Scalar>(learning_rate, std::move(next_step)), orbit_(orbit), place_(orbit.place()) {}

template <Real Scalar>
void OrbitMeasures<Scalar>::gradient(In<Scalar> w, Out<Scalar> gradient) {
  orbit_.current_gradient(w, gradient);
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> OrbitMeasures<Scalar>::local_curvature() {
  return orbit_.local_curvature();
}

template <Real Scalar>
void OrbitMeasures<Scalar>::update() {
  if (place_ == orbit_.place()) return;
  place_ = orbit_.place();
  this->forget();
}

template <Real Scalar>
ParameterMeasures<Scalar>::ParameterMeasures(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                             double learning_rate, NextStep<Scalar> next_step)
    : Measures<Scalar>(learning_rate, std::move(next_step)),
      objective_(objective),
      w_(w),
      gradient_(w.size()),
      loss_(objective.gradient(w_, gradient_)),
      grad_sq_(absolute_dot<Scalar>(gradient_, gradient_)) {
  this->charge(1.0);
}

template <Real Scalar>
double ParameterMeasures<Scalar>::curvature() {
  if (!curvature_) {
    curvature_ = objective_.curvature(w_, gradient_);
    this->charge(2.0);
  }
  return *curvature_;
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> ParameterMeasures<Scalar>::local_curvature() {
  return objective_.local_curvature(w_, [this](Out<Scalar> gradient) { gradient = gradient_; });
}

template class Measures<float>;
template class Measures<double>;
template class OrbitMeasures<float>;
template class OrbitMeasures<double>;
template class ParameterMeasures<float>;
template class ParameterMeasures<double>;

}  // namespace symport
