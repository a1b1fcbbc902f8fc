// SPDX-License-Identifier: MIT
#include "symport/objectives/ellipse.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport {

Ellipse::Ellipse(double a) : a_(a) {
  if (!(std::isfinite(a) && a > 0)) {
    throw InvalidArgument("a", fmt::format("{}", a), "a finite number > 0");
  }
}

std::string Ellipse::formula() const { return fmt::format("x1^2 + {} x2^2", a_); }

std::string Ellipse::citation() const { return "Zhao et al., NeurIPS 2022, appendix B.1"; }

double Ellipse::value(In<double> x) const { return x[0] * x[0] + a_ * x[1] * x[1]; }

double Ellipse::gradient(In<double> x, Out<double> gradient) const {
  gradient[0] = 2 * x[0];
  gradient[1] = 2 * a_ * x[1];
  return value(x);
}

void Ellipse::hessian_vector(In<double>, In<double> v, Out<double> result) const {
  result[0] = 2 * v[0];
  result[1] = 2 * a_ * v[1];
}

void Ellipse::third_derivative(In<double>, In<double>, Out<double> result) const {
  result.setZero();
}

}  // namespace symport
