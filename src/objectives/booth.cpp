// SPDX-License-Identifier: MIT
#include "symport/objectives/booth.hpp"

namespace symport {

std::string Booth::citation() const {
  return "Jamil and Yang, Int. J. Mathematical Modelling and Numerical Optimisation 4 (2013)";
}

double Booth::value(In<double> x) const {
  const double u = x[0] + 2 * x[1] - 7, v = 2 * x[0] + x[1] - 5;
  return u * u + v * v;
}

double Booth::gradient(In<double> x, Out<double> gradient) const {
  const double u = x[0] + 2 * x[1] - 7, v = 2 * x[0] + x[1] - 5;
  gradient[0] = 2 * u + 4 * v;
  gradient[1] = 4 * u + 2 * v;
  return u * u + v * v;
}

void Booth::hessian_vector(In<double>, In<double> v, Out<double> result) const {
  result[0] = 10 * v[0] + 8 * v[1];
  result[1] = 8 * v[0] + 10 * v[1];
}

void Booth::third_derivative(In<double>, In<double>, Out<double> result) const { result.setZero(); }

}  // namespace symport
