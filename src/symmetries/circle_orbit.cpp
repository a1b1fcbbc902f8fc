// SPDX-License-Identifier: MIT
#include "symmetries/circle_orbit.hpp"

#include <cmath>
#include <numbers>

namespace symport {

namespace {

Eigen::Vector2d rotated(const Eigen::Vector2d& u, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * u[0] - s * u[1], s * u[0] + c * u[1]};
}

}  // namespace

CircleOrbit::CircleOrbit(const ChangeOfVariables& variables, const Objective& objective,
                         In<double> start)
    : BasicOrbit(objective), variables_(variables), start_(start), w_(start) {
  variables_.to(start_, start_image_);
  image_ = start_image_;
}

void CircleOrbit::need_gradient() {
  if (has_gradient_) return;
  objective().gradient(w_, gradient_);
  charge(1.0);
  has_gradient_ = true;
}

void CircleOrbit::need_hessian_gradient() {
  if (has_hessian_gradient_) return;
  need_gradient();
  objective().hessian_vector(w_, gradient_, hessian_gradient_);
  charge(2.0);
  has_hessian_gradient_ = true;
}

double CircleOrbit::grad_sq() {
  need_gradient();
  return gradient_.squaredNorm();
}

double CircleOrbit::curvature() {
  need_hessian_gradient();
  return gradient_.dot(hessian_gradient_);
}

double CircleOrbit::aim(const Slope& slope) {
  base_angle_ = angle_;
  Eigen::Vector2d covector = Eigen::Vector2d::Zero();
  if (slope.covector) covector = *slope.covector;
  // (F4): dJ/dw = 2 H g;  dPhi/dw = 2 H (H g) + d/de H(w + e g) g
  if (slope.grad_sq != 0.0 || slope.curvature != 0.0) {
    need_hessian_gradient();
    covector += 2.0 * slope.grad_sq * hessian_gradient_;
  }
  if (slope.curvature != 0.0) {
    Eigen::Vector2d HHg, third;
    objective().hessian_vector(w_, hessian_gradient_, HHg);
    objective().third_derivative(w_, gradient_, third);
    charge(6.0);
    covector += slope.curvature * (2.0 * HHg + third);
  }
  Eigen::Vector2d pulled;
  variables_.pull_inverse(image_, covector, pulled);
  const double derivative = pulled[1] * image_[0] - pulled[0] * image_[1];  // in the angle, (F3)
  direction_ = derivative < 0.0 ? -1.0 : 1.0;
  return std::isfinite(derivative) ? std::abs(derivative) : 0.0;
}

bool CircleOrbit::place(double angle) {
  // Within one turn of zero, so that the sine and cosine of a huge step keep their digits.
  angle_ = std::remainder(angle, 2.0 * std::numbers::pi);
  if (angle_ == 0.0) {
    image_ = start_image_;
    w_ = start_;  // the identity changes no bit
  } else {
    image_ = rotated(start_image_, angle_);
    variables_.from(image_, w_);
  }
  has_gradient_ = has_hessian_gradient_ = false;
  point_changed();
  return w_.allFinite();
}

bool CircleOrbit::move(double length) {
  if (place(base_angle_ + direction_ * length)) return true;
  place(base_angle_);
  return false;
}

double CircleOrbit::period() const { return 2.0 * std::numbers::pi; }

bool CircleOrbit::randomize(Random& random, double) {
  if (!place(random.uniform(0.0, 2.0 * std::numbers::pi))) {
    place(base_angle_);
    return false;
  }
  base_angle_ = angle_;
  return true;
}

bool CircleOrbit::transport(Out<double> values, StateKind kind) const {
  switch (kind) {
    case StateKind::cotangent:
      move_covector(values);
      return true;
    case StateKind::tangent: {
      Eigen::Matrix2d inverse_transpose = Eigen::Matrix2d::Identity();
      for (auto column : inverse_transpose.colwise()) move_covector(column);
      const Eigen::Matrix2d& M = inverse_transpose;
      // The solution v' of M'v' = v.
      const Eigen::Vector2d v = values;
      values << M(1, 1) * v[0] - M(1, 0) * v[1], M(0, 0) * v[1] - M(0, 1) * v[0];
      values /= M(0, 0) * M(1, 1) - M(0, 1) * M(1, 0);
      return true;
    }
    case StateKind::point: {
      if (angle_ == 0.0) return true;
      Eigen::Vector2d image;
      variables_.to(values, image);
      variables_.from(rotated(image, angle_), values);
      return true;
    }
    case StateKind::scalar:
      return true;
    case StateKind::squared_cotangent:
      return false;
  }
  return false;
}

void CircleOrbit::move_covector(Out<double> covector) const {
  // J^-T = Dh(w')' R Dh^-1(h(w))'
  Eigen::Vector2d pulled;
  variables_.pull_inverse(start_image_, covector, pulled);
  variables_.pull(w_, rotated(pulled, angle_), covector);
}

}  // namespace symport
