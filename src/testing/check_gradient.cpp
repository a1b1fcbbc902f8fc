// SPDX-License-Identifier: MIT
#include "symport/testing/check_gradient.hpp"

#include "testing/taylor_slope.hpp"

namespace symport::testing {

namespace {

Vector unit_direction(Index n, Random& random) { return random.normal_matrix(n, 1).normalized(); }

}  // namespace

CheckResult check_gradient(const Objective& objective, In<double> w, Random& random) {
  const Vector v = unit_direction(w.size(), random);
  Vector g(w.size());
  const double value = objective.gradient(w, g);
  const double slope = g.dot(v);
  if (value != objective.value(w) &&
      std::abs(value - objective.value(w)) > 1e-12 * std::abs(value)) {
    return {false, fmt::format("gradient returned the loss {}, value() says {}", value,
                               objective.value(w))};
  }
  return judge_slope(
      "gradient",
      [&](double e) { return std::abs(objective.value(w + e * v) - value - e * slope); },
      std::abs(value));
}

CheckResult check_hessian_vector(const Objective& objective, In<double> w, Random& random) {
  const Vector v = unit_direction(w.size(), random);
  Vector g(w.size()), moved(w.size()), Hv(w.size());
  objective.gradient(w, g);
  objective.hessian_vector(w, v, Hv);
  return judge_slope(
      "hessian_vector",
      [&](double e) {
        objective.gradient(w + e * v, moved);
        return (moved - g - e * Hv).norm();
      },
      g.norm());
}

CheckResult check_third_derivative(const Objective& objective, In<double> w, Random& random) {
  const Vector v = unit_direction(w.size(), random);
  Vector Hv(w.size()), moved(w.size()), third(w.size());
  objective.hessian_vector(w, v, Hv);
  objective.third_derivative(w, v, third);
  return judge_slope(
      "third_derivative",
      [&](double e) {
        objective.hessian_vector(w + e * v, v, moved);
        return (moved - Hv - e * third).norm();
      },
      Hv.norm());
}

}  // namespace symport::testing
