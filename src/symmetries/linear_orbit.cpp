// SPDX-License-Identifier: MIT
#include "symmetries/linear_orbit.hpp"

#include <utility>

namespace symport {

namespace {

template <Real Scalar>
double dot(const VectorOf<Scalar>& a, const VectorOf<Scalar>& b) {
  return a.template cast<double>().dot(b.template cast<double>());
}

}  // namespace

template <Real Scalar>
void LinearOrbit<Scalar>::element_changed() {
  this->point_changed();
  grad_sq_.reset();
  curvature_.reset();
}

template <Real Scalar>
const VectorOf<Scalar>& LinearOrbit<Scalar>::start_gradient() {
  if (start_gradient_.size() == 0) {
    start_gradient_.resize(start_.size());
    this->objective().gradient(start_, start_gradient_);
    this->charge(1.0);
  }
  return start_gradient_;
}

template <Real Scalar>
void LinearOrbit<Scalar>::set_start_gradient(VectorOf<Scalar> gradient) {
  start_gradient_ = std::move(gradient);
  this->charge(1.0);
}

template <Real Scalar>
VectorOf<Scalar> LinearOrbit<Scalar>::pulled_gradient() {
  VectorOf<Scalar> v = start_gradient();
  pull_to_start(v);
  return v;
}

template <Real Scalar>
VectorOf<Scalar> LinearOrbit<Scalar>::pulled_hessian_gradient() {
  const VectorOf<Scalar> v = pulled_gradient();
  VectorOf<Scalar> Hv(v.size());
  this->objective().hessian_vector(start_, v, Hv);
  this->charge(2.0);
  if (!curvature_) curvature_ = dot<Scalar>(v, Hv);
  return Hv;
}

template <Real Scalar>
ScaleModel LinearOrbit<Scalar>::scale_model(const std::vector<Index>& block, Matrix exponents) {
  const VectorOf<Scalar> v = pulled_gradient();
  const Index count = exponents.rows();
  // The action keeps blocks apart: those of v belong to those of the gradient.
  std::vector<VectorOf<Scalar>> parts(static_cast<std::size_t>(count),
                                      VectorOf<Scalar>::Zero(v.size()));
  for (Index i = 0; i < v.size(); ++i) {
    parts[static_cast<std::size_t>(block[static_cast<std::size_t>(i)])][i] = v[i];
  }
  ScaleModel model{Vector(count), Matrix(count, count), std::move(exponents)};
  VectorOf<Scalar> Hv(v.size());
  for (Index a = 0; a < count; ++a) {
    const VectorOf<Scalar>& part = parts[static_cast<std::size_t>(a)];
    model.J[a] = dot<Scalar>(start_gradient(), part);
    this->objective().hessian_vector(start_, part, Hv);
    this->charge(2.0);
    for (Index b = 0; b < count; ++b) {
      model.M(b, a) = dot<Scalar>(parts[static_cast<std::size_t>(b)], Hv);
    }
  }
  model.M = (0.5 * (model.M + model.M.transpose())).eval();
  return model;
}

template <Real Scalar>
double LinearOrbit<Scalar>::grad_sq() {
  if (!grad_sq_) grad_sq_ = dot<Scalar>(start_gradient(), pulled_gradient());
  return *grad_sq_;
}

template <Real Scalar>
double LinearOrbit<Scalar>::curvature() {
  if (!curvature_) {
    curvature_ = this->objective().curvature(start_, pulled_gradient());
    this->charge(2.0);
  }
  return *curvature_;
}

template <Real Scalar>
void LinearOrbit<Scalar>::commit(Out<Scalar> w) {
  w = start_;
  act(w);
}

template <Real Scalar>
bool LinearOrbit<Scalar>::transport(Out<Scalar> values, StateKind kind) const {
  switch (kind) {
    case StateKind::cotangent:
      act_on_covector(values);
      return true;
    case StateKind::squared_cotangent:
      return act_on_squares(values);
    case StateKind::tangent:
    case StateKind::point:
      act(values);
      return true;
    case StateKind::scalar:
      return true;
  }
  return false;
}

template <Real Scalar>
void LinearOrbit<Scalar>::current_gradient(In<Scalar>, Out<Scalar> gradient) {
  gradient = start_gradient();
  act_on_covector(gradient);
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> LinearOrbit<Scalar>::local_curvature() {
  VectorOf<Scalar> w(start_.size());
  commit(w);
  return this->objective().local_curvature(
      w, [this, w](Out<Scalar> gradient) { current_gradient(w, gradient); });
}

template class LinearOrbit<float>;
template class LinearOrbit<double>;

}  // namespace symport
