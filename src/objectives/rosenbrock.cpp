// SPDX-License-Identifier: MIT
#include "symport/objectives/rosenbrock.hpp"

#include <string>

#include "symport/core/invalid_argument.hpp"

namespace symport {

Rosenbrock::Rosenbrock(Index pairs) : pairs_(pairs) {
  if (pairs < 1) throw InvalidArgument("pairs", std::to_string(pairs), "a whole number >= 1");
}

std::string Rosenbrock::formula() const {
  return pairs_ == 1 ? "100 (x1^2 - x2)^2 + (x1 - 1)^2"
                     : "sum over pairs of 100 (x1^2 - x2)^2 + (x1 - 1)^2";
}

std::string Rosenbrock::citation() const { return "Rosenbrock, The Computer Journal 3 (1960)"; }

Vector Rosenbrock::start() const {
  Vector x = Vector::Constant(dimension(), -1.0);
  for (Index i = 1; i < pairs_; ++i) x[2 * i] += 0.1 * static_cast<double>(i % 8);
  return x;
}

double Rosenbrock::value(In<double> x) const {
  double sum = 0;
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    const double valley = x[i] * x[i] - x[i + 1], along = x[i] - 1;
    sum += 100 * valley * valley + along * along;
  }
  return sum;
}

double Rosenbrock::gradient(In<double> x, Out<double> gradient) const {
  double sum = 0;
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    const double valley = x[i] * x[i] - x[i + 1], along = x[i] - 1;
    gradient[i] = 400 * x[i] * valley + 2 * along;
    gradient[i + 1] = -200 * valley;
    sum += 100 * valley * valley + along * along;
  }
  return sum;
}

void Rosenbrock::hessian_vector(In<double> x, In<double> v, Out<double> result) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    const double cross = -400 * x[i];
    result[i] = (1200 * x[i] * x[i] - 400 * x[i + 1] + 2) * v[i] + cross * v[i + 1];
    result[i + 1] = cross * v[i] + 200 * v[i + 1];
  }
}

void Rosenbrock::third_derivative(In<double> x, In<double> v, Out<double> result) const {
  for (Index i = 0; i < 2 * pairs_; i += 2) {
    result[i] = 2400 * x[i] * v[i] * v[i] - 800 * v[i] * v[i + 1];
    result[i + 1] = -400 * v[i] * v[i];
  }
}

}  // namespace symport
