// SPDX-License-Identifier: MIT
#include "symmetries/matrix_orbit.hpp"

#include <cmath>

#include "core/dense.hpp"

namespace symport {

MatrixOrbit::MatrixOrbit(const MatrixSymmetry& symmetry, const Objective& objective,
                         In<double> start)
    : BasicOrbit(objective),
      symmetry_(symmetry),
      start_(start),
      base_element_(Matrix::Identity(symmetry.order(), symmetry.order())),
      element_(base_element_),
      direction_(Matrix::Zero(symmetry.order(), symmetry.order())),
      w_(start),
      gradient_(start.size()),
      hessian_gradient_(start.size()) {}

void MatrixOrbit::need_gradient() {
  if (has_gradient_) return;
  objective().gradient(w_, gradient_);
  charge(1.0);
  has_gradient_ = true;
}

void MatrixOrbit::need_hessian_gradient() {
  if (has_hessian_gradient_) return;
  need_gradient();
  objective().hessian_vector(w_, gradient_, hessian_gradient_);
  charge(2.0);
  has_hessian_gradient_ = true;
}

double MatrixOrbit::grad_sq() {
  need_gradient();
  return gradient_.squaredNorm();
}

double MatrixOrbit::curvature() {
  need_hessian_gradient();
  return gradient_.dot(hessian_gradient_);
}

double MatrixOrbit::aim(const Slope& slope) {
  base_element_ = element_;
  Vector covector = slope.covector ? *slope.covector : Vector::Zero(w_.size());
  // (F4): dJ/dw = 2 H g;  dPhi/dw = 2 H (H g) + d/de H(w + e g) g
  if (slope.grad_sq != 0.0 || slope.curvature != 0.0) {
    need_hessian_gradient();
    covector += 2.0 * slope.grad_sq * hessian_gradient_;
  }
  if (slope.curvature != 0.0) {
    Vector HHg(w_.size()), third(w_.size());
    objective().hessian_vector(w_, hessian_gradient_, HHg);
    objective().third_derivative(w_, gradient_, third);
    charge(6.0);
    covector += slope.curvature * (2.0 * HHg + third);
  }
  direction_ = symmetry_.pull_back(w_, covector);
  const double norm = std::sqrt(symmetry_.inner(direction_, direction_));
  if (!(norm > 0.0 && std::isfinite(norm))) {
    direction_.setZero();
    return 0.0;
  }
  direction_ /= norm;
  return norm;
}

bool MatrixOrbit::place(const Matrix& g) {
  element_ = g;
  w_ = start_;
  symmetry_.act(element_, w_);
  has_gradient_ = has_hessian_gradient_ = false;
  point_changed();
  return element_.allFinite() && w_.allFinite();
}

bool MatrixOrbit::move(double length) {
  if (length != 0.0) {
    if (place(matrix_exponential(length * direction_) * base_element_)) return true;
  }
  place(base_element_);
  return length == 0.0;
}

void MatrixOrbit::restart() {
  base_element_.setIdentity();
  place(base_element_);
}

bool MatrixOrbit::jump(const Matrix& g) {
  if (!place(g)) {
    place(base_element_);
    return false;
  }
  base_element_ = element_;
  return true;
}

bool MatrixOrbit::randomize(Random& random, double spread) {
  return jump(symmetry_.random_element(random, spread));
}

double MatrixOrbit::condition() const {
  return symmetry_.compact() ? 1.0 : condition_number(element_);
}

bool MatrixOrbit::transport(Out<double> values, StateKind kind) const {
  switch (kind) {
    case StateKind::cotangent:
      symmetry_.transport(element_, start_, values);
      return true;
    case StateKind::tangent: {
      // J v from J^-T, which is what symmetries know.
      Matrix inverse_transpose = Matrix::Identity(values.size(), values.size());
      for (auto column : inverse_transpose.colwise()) {
        symmetry_.transport(element_, start_, column);
      }
      values = solve(inverse_transpose.transpose(), Vector(values));
      return true;
    }
    case StateKind::point:
      symmetry_.act(element_, values);
      return true;
    case StateKind::scalar:
      return true;
    case StateKind::squared_cotangent:
      return false;
  }
  return false;
}

}  // namespace symport
