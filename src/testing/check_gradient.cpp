// SPDX-License-Identifier: MIT
#include "symport/testing/check_gradient.hpp"

#include "symport/core/invalid_argument.hpp"
#include "testing/largest_error.hpp"
#include "testing/taylor_slope.hpp"

namespace symport::testing {

namespace {

/// Of unit length. Throws InvalidArgument unless w is a point of the objective.
Vector random_direction(const Objective& objective, In<double> w, Random& random) {
  if (w.size() != objective.dimension()) {
    throw InvalidArgument("w", fmt::format("{} numbers", w.size()),
                          fmt::format("{}, the objective's dimension", objective.dimension()));
  }
  return random.normal_matrix(w.size(), 1).normalized();
}

/// Names the entry of `found` that is off most from a central difference, where the check failed:
/// what should be a derivative at w, and how it is estimated.
template <class Estimate>
CheckResult named(CheckResult verdict, const Objective& objective, const Vector& found,
                  const Estimate& estimate) {
  if (!verdict) verdict.detail += "; " + largest_error(found, estimate(), &objective);
  return verdict;
}

constexpr double difference_step = 1e-5;
/// One difference for each entry: more than these take too long.
constexpr Index most_entries = 10000;

}  // namespace

CheckResult check_gradient(const Objective& objective, In<double> w, Random& random) {
  const Vector v = random_direction(objective, w, random);
  Vector g(w.size());
  const double value = objective.gradient(w, g);
  const double slope = g.dot(v);
  if (value != objective.value(w) &&
      std::abs(value - objective.value(w)) > 1e-12 * std::abs(value)) {
    return {false, fmt::format("gradient returned the loss {}, value() says {}", value,
                               objective.value(w))};
  }
  CheckResult verdict = judge_slope(
      "gradient",
      [&](double e) { return std::abs(objective.value(w + e * v) - value - e * slope); },
      std::abs(value));
  if (w.size() > most_entries) return verdict;
  return named(std::move(verdict), objective, g, [&] {
    Vector differences(w.size()), there = w;
    for (Index i = 0; i < w.size(); ++i) {
      const double h = difference_step * std::max(1.0, std::abs(w[i]));
      there[i] = w[i] + h;
      const double above = objective.value(there);
      there[i] = w[i] - h;
      differences[i] = (above - objective.value(there)) / (2.0 * h);
      there[i] = w[i];
    }
    return differences;
  });
}

CheckResult check_hessian_vector(const Objective& objective, In<double> w, Random& random) {
  const Vector v = random_direction(objective, w, random);
  Vector g(w.size()), moved(w.size()), Hv(w.size());
  objective.gradient(w, g);
  objective.hessian_vector(w, v, Hv);
  const auto remainder = [&](double e) {
    objective.gradient(w + e * v, moved);
    return (moved - g - e * Hv).norm();
  };
  // Where the Hessian is constant, all that is left is the error of Hv itself.
  constexpr double e = 1e-2, accuracy_of_differences = 1e-8;
  if (remainder(e) <= accuracy_of_differences * e * Hv.norm()) {
    return {true, "hessian_vector: exact to differences of the gradient"};
  }
  return named(judge_slope("hessian_vector", remainder, g.norm()), objective, Hv, [&]() -> Vector {
    Vector below(w.size());
    objective.gradient(w + difference_step * v, moved);
    objective.gradient(w - difference_step * v, below);
    return (moved - below) / (2.0 * difference_step);
  });
}

CheckResult check_third_derivative(const Objective& objective, In<double> w, Random& random) {
  const Vector v = random_direction(objective, w, random);
  Vector Hv(w.size()), moved(w.size()), third(w.size());
  objective.hessian_vector(w, v, Hv);
  objective.third_derivative(w, v, third);
  CheckResult verdict = judge_slope(
      "third_derivative",
      [&](double e) {
        objective.hessian_vector(w + e * v, v, moved);
        return (moved - Hv - e * third).norm();
      },
      Hv.norm());
  return named(std::move(verdict), objective, third, [&]() -> Vector {
    Vector below(w.size());
    objective.hessian_vector(w + difference_step * v, v, moved);
    objective.hessian_vector(w - difference_step * v, v, below);
    return (moved - below) / (2.0 * difference_step);
  });
}

}  // namespace symport::testing
