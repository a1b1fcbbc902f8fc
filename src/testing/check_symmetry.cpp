// SPDX-License-Identifier: MIT
#include "symport/testing/check_symmetry.hpp"

#include <vector>

#include "core/dense.hpp"
#include "testing/taylor_slope.hpp"

namespace symport::testing {

namespace {

Vector moved(const MatrixSymmetry& symmetry, const Matrix& g, In<double> w) {
  Vector result = w;
  symmetry.act(g, result);
  return result;
}

double distance(const Vector& a, const Vector& b) {
  return (a - b).norm() / std::max({a.norm(), b.norm(), 1e-300});
}

}  // namespace

CheckResult check_symmetry(const MatrixSymmetry& symmetry, const Objective& objective, In<double> w,
                           Random& random, const CheckSymmetryOptions& options) {
  const Index n = symmetry.order();
  std::string problem;
  const auto require = [&](double error, const std::string& law) {
    if (problem.empty() && !(error <= options.tolerance)) {
      problem = fmt::format("{}: {} is off by {:.3g}, allowed is {:.3g}", symmetry.name(), law,
                            error, options.tolerance);
    }
  };

  // The identity, a tiny element, random ones.
  std::vector<Matrix> elements{Matrix::Identity(n, n)};
  elements.push_back(matrix_exponential(1e-8 * symmetry.project(random.normal_matrix(n, n))));
  for (int i = 0; i < options.elements; ++i) {
    elements.push_back(symmetry.random_element(random, options.spread));
  }

  require(distance(moved(symmetry, elements[0], w), w), "identity");
  const double loss = objective.value(w);
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  for (const Matrix& g : elements) {
    const Vector there = moved(symmetry, g, w);
    require(std::abs(objective.value(there) - loss) / std::abs(loss), "invariance");
    require(distance(moved(symmetry, inverse(g), there), w), "inverse");
    Vector expected(w.size()), transported = gradient;
    objective.gradient(there, expected);
    symmetry.transport(g, w, transported);
    require(distance(transported, expected), "transport");
    for (const Matrix& a : elements) {
      require(distance(moved(symmetry, a, there), moved(symmetry, a * g, w)), "composition");
    }
  }
  if (!problem.empty()) return {false, problem};

  const Matrix T = symmetry.project(random.normal_matrix(n, n)).normalized();
  const Vector covector = random.normal_matrix(w.size(), 1);
  const double slope = symmetry.inner(symmetry.pull_back(w, covector), T);
  const double value = covector.dot(w);
  return judge_slope(
      symmetry.name() + ": pull_back",
      [&](double e) {
        const Vector there = moved(symmetry, matrix_exponential(e * T), w);
        return std::abs(covector.dot(there) - value - e * slope);
      },
      std::abs(value));
}

}  // namespace symport::testing
