// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/absolute_dot.hpp"

namespace symport {

double Certificate::relative_change() const {
  return symport::drift(loss_before, loss_after, 0, 1);
}

template <Real Scalar>
double first_order_rounding(In<Scalar> w, In<Scalar> gradient, double unit) {
  return unit * absolute_dot<Scalar>(gradient, w);
}

template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
                     double u) {
  const double first = first_order_rounding<Scalar>(w, gradient, u);
  VectorOf<Scalar> d = (gradient.array() < Scalar(0)).select(-w.cwiseAbs(), w.cwiseAbs());
  const auto second = [&] { return 0.5 * u * u * std::abs(objective.curvature(w, d)); };
  const double with_the_gradient = second();
  if (with_the_gradient <= 0.01 * first) return first + with_the_gradient;
  for (Index i = 1; i < d.size(); i += 2) d[i] = -d[i];
  return first + std::max(with_the_gradient, second());
}

template <Real Scalar>
Certificate refused_certificate(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                std::string reason) {
  VectorOf<Scalar> gradient(w.size());
  Certificate c;
  c.loss_before = c.loss_after = objective.gradient(w, gradient);
  c.grad_sq_before = c.grad_sq_after = static_cast<double>(gradient.squaredNorm());
  c.curvature_before = c.curvature_after = objective.curvature(w, gradient);
  c.evaluations = 3.0;
  c.reason = std::move(reason);
  return c;
}

template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w, double unit) {
  VectorOf<Scalar> gradient(w.size());
  objective.gradient(w, gradient);
  return loss_rounding<Scalar>(objective, w, gradient, unit);
}

double drift_scale(double loss_before, double rounding, double tolerance) {
  const double floor = 1000.0 * rounding / tolerance;
  return std::isfinite(floor) ? std::max(std::abs(loss_before), floor) : std::abs(loss_before);
}

double drift(double loss_before, double loss_after, double rounding, double tolerance) {
  const double change = std::abs(loss_after - loss_before);
  return change == 0.0 ? 0.0 : change / drift_scale(loss_before, rounding, tolerance);
}

template Certificate refused_certificate(const BasicObjective<float>&, In<float>, std::string);
template Certificate refused_certificate(const BasicObjective<double>&, In<double>, std::string);
template double first_order_rounding(In<float>, In<float>, double);
template double first_order_rounding(In<double>, In<double>, double);
template double loss_rounding(const BasicObjective<float>&, In<float>, In<float>, double);
template double loss_rounding(const BasicObjective<double>&, In<double>, In<double>, double);
template double loss_rounding(const BasicObjective<float>&, In<float>, double);
template double loss_rounding(const BasicObjective<double>&, In<double>, double);

}  // namespace symport
