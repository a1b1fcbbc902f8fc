// SPDX-License-Identifier: MIT
#include "symport/symmetries/orbit.hpp"

#include <stdexcept>

namespace symport {

void Orbit::solve(ObjectiveKind, double, double) {
  throw std::logic_error("Orbit::solve: this orbit has no closed form");
}

bool Orbit::randomize(Random&, double) { return false; }

template <Real Scalar>
bool BasicOrbit<Scalar>::transport(Out<Scalar>) const {
  return false;
}

template <Real Scalar>
void BasicOrbit<Scalar>::point_changed() {
  forecast_.reset();
  local_curvature_.reset();
}

template <Real Scalar>
void BasicOrbit<Scalar>::charge_states(double gradients) {
  charge(gradients);
  objective_.note_work(gradients);
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> BasicOrbit<Scalar>::make_local_curvature() {
  VectorOf<Scalar> w(objective().dimension());
  commit(w);
  return objective().local_curvature(w, {});
}

template <Real Scalar>
LocalCurvature<Scalar>& BasicOrbit<Scalar>::local_curvature() {
  if (!local_curvature_) {
    local_curvature_ = make_local_curvature();
    charge(local_curvature_->evaluations());
  }
  return *local_curvature_;
}

template <Real Scalar>
void BasicOrbit<Scalar>::current_gradient(In<Scalar> w, Out<Scalar> gradient) {
  objective().gradient(w, gradient);
  charge(1.0);
}

template <Real Scalar>
StepForecast BasicOrbit<Scalar>::forecast_from(In<Scalar> w, In<Scalar> gradient) {
  if (!next_step_) throw std::logic_error("Orbit::forecast: no next step was set");
  VectorOf<Scalar> u(w.size());
  next_step_(w, gradient, u);
  charge(2.0);
  return {static_cast<double>(gradient.dot(u)), objective().curvature(w, u)};
}

template <Real Scalar>
StepForecast BasicOrbit<Scalar>::forecast() {
  if (!forecast_) {
    const Index n = objective().dimension();
    VectorOf<Scalar> w(n), gradient(n);
    commit(w);
    current_gradient(w, gradient);
    forecast_ = forecast_from(w, gradient);
  }
  return *forecast_;
}

template <Real Scalar>
double BasicOrbit<Scalar>::largest_curvature() {
  LocalCurvature<Scalar>& local = local_curvature();
  const double before = local.evaluations(), largest = local.largest_eigenvalue();
  charge(local.evaluations() - before);
  return largest;
}

template <Real Scalar>
double BasicOrbit<Scalar>::next_loss(double learning_rate) {
  if (!next_step_) {
    LocalCurvature<Scalar>& local = local_curvature();
    const double before = local.evaluations(), loss = local.next_loss(learning_rate);
    charge(local.evaluations() - before);
    return loss;
  }
  const Index n = objective().dimension();
  VectorOf<Scalar> w(n), gradient(n), u(n);
  commit(w);
  current_gradient(w, gradient);
  next_step_(w, gradient, u);
  w -= u;
  charge(0.5);
  return objective().value(w);
}

template <Real Scalar>
BasicOrbit<Scalar>::BasicOrbit(const BasicObjective<Scalar>& objective) : objective_(objective) {}

template <Real Scalar>
BasicOrbit<Scalar>::~BasicOrbit() = default;

template class BasicOrbit<float>;
template class BasicOrbit<double>;

}  // namespace symport
