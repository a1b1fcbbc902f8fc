// SPDX-License-Identifier: MIT
#include "symport/symmetries/orbit.hpp"

#include <stdexcept>

#include "objectives/mlp_hessian.hpp"

namespace symport {

namespace {

/// Enough for the largest eigenvalue to a few per cent on networks; exact below this dimension.
constexpr Index lanczos_steps = 12;
/// Residual, relative to the eigenvalue, at which fewer steps do.
constexpr double lanczos_tolerance = 0.02;

}  // namespace

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
  largest_curvature_.reset();
  hessian_.reset();
}

template <Real Scalar>
std::unique_ptr<MlpHessian<Scalar>> BasicOrbit<Scalar>::make_hessian() {
  const auto* mlp = dynamic_cast<const MlpObjective<Scalar>*>(&objective());
  if (mlp == nullptr || !MlpHessian<Scalar>::worthwhile(*mlp)) return nullptr;
  point_.resize(mlp->dimension());
  commit(point_);
  charge(0.5);
  return std::make_unique<MlpHessian<Scalar>>(*mlp, point_);
}

template <Real Scalar>
MlpHessian<Scalar>* BasicOrbit<Scalar>::hessian() {
  if (!hessian_) hessian_ = make_hessian();
  return hessian_.get();
}

template <Real Scalar>
void BasicOrbit<Scalar>::current_gradient(In<Scalar> w, Out<Scalar> gradient) {
  objective().gradient(w, gradient);
  charge(1.0);
}

template <Real Scalar>
StepForecast BasicOrbit<Scalar>::forecast() {
  if (!forecast_) {
    if (!next_step_) throw std::logic_error("Orbit::forecast: no next step was set");
    const Index n = objective().dimension();
    VectorOf<Scalar> w(n), gradient(n), u(n);
    commit(w);
    current_gradient(w, gradient);
    next_step_(w, gradient, u);
    forecast_ = StepForecast{static_cast<double>(gradient.dot(u)), objective().curvature(w, u)};
    charge(2.0);
  }
  return *forecast_;
}

template <Real Scalar>
double BasicOrbit<Scalar>::largest_curvature() {
  if (!largest_curvature_ && hessian()) {
    const Index before = hessian_->products();
    largest_curvature_ = hessian_->largest_eigenvalue(lanczos_steps, lanczos_tolerance);
    charge(0.5 * static_cast<double>(hessian_->products() - before));
  }
  if (!largest_curvature_) {
    const Index n = objective().dimension();
    VectorOf<Scalar> w(n), gradient(n);
    commit(w);
    current_gradient(w, gradient);
    largest_curvature_ =
        symport::largest_curvature<Scalar>(objective(), w, gradient, lanczos_steps);
    charge(2.0 * static_cast<double>(std::min(n, lanczos_steps)));
  }
  return *largest_curvature_;
}

template <Real Scalar>
double BasicOrbit<Scalar>::next_loss(double learning_rate) {
  if (!next_step_ && hessian()) {
    charge(0.5);
    return hessian_->next_loss(learning_rate);
  }
  const Index n = objective().dimension();
  VectorOf<Scalar> w(n), gradient(n);
  commit(w);
  current_gradient(w, gradient);
  if (next_step_) {
    VectorOf<Scalar> u(n);
    next_step_(w, gradient, u);
    w -= u;
  } else {
    w -= static_cast<Scalar>(learning_rate) * gradient;
  }
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
