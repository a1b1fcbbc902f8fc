// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/absolute_dot.hpp"

namespace symport {

namespace {

template <Real Scalar>
constexpr double unit_roundoff = 0.5 * std::numeric_limits<Scalar>::epsilon();

}  // namespace

double Certificate::relative_change() const {
  return symport::drift(loss_before, loss_after, 0, 1);
}

template <Real Scalar>
double first_order_rounding(In<Scalar> w, In<Scalar> gradient) {
  return unit_roundoff<Scalar> * absolute_dot<Scalar>(gradient, w);
}

template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient) {
  constexpr double u = unit_roundoff<Scalar>;
  const double first = first_order_rounding<Scalar>(w, gradient);
  VectorOf<Scalar> d = (gradient.array() < Scalar(0)).select(-w.cwiseAbs(), w.cwiseAbs());
  const auto second = [&] { return 0.5 * u * u * std::abs(objective.curvature(w, d)); };
  const double with_the_gradient = second();
  if (with_the_gradient <= 0.01 * first) return first + with_the_gradient;
  for (Index i = 1; i < d.size(); i += 2) d[i] = -d[i];
  return first + std::max(with_the_gradient, second());
}

template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w) {
  VectorOf<Scalar> gradient(w.size());
  objective.gradient(w, gradient);
  return loss_rounding<Scalar>(objective, w, gradient);
}

double drift_scale(double loss_before, double rounding, double tolerance) {
  const double floor = 1000.0 * rounding / tolerance;
  return std::isfinite(floor) ? std::max(std::abs(loss_before), floor) : std::abs(loss_before);
}

double drift(double loss_before, double loss_after, double rounding, double tolerance) {
  const double change = std::abs(loss_after - loss_before);
  return change == 0.0 ? 0.0 : change / drift_scale(loss_before, rounding, tolerance);
}

template double first_order_rounding(In<float>, In<float>);
template double first_order_rounding(In<double>, In<double>);
template double loss_rounding(const BasicObjective<float>&, In<float>, In<float>);
template double loss_rounding(const BasicObjective<double>&, In<double>, In<double>);
template double loss_rounding(const BasicObjective<float>&, In<float>);
template double loss_rounding(const BasicObjective<double>&, In<double>);

}  // namespace symport
