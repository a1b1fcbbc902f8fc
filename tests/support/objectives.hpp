// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/numbers.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/generic_objective.hpp"
#include "symport/objectives/linear_model.hpp"
#include "symport/objectives/matrix_completion.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/quadratic.hpp"
#include "symport/objectives/rosenbrock.hpp"

namespace symport::testing {

/// The losses again, for dual numbers.
inline constexpr auto ellipse_loss = [](const auto& x) { return x[0] * x[0] + 5.0 * x[1] * x[1]; };
inline constexpr auto rosenbrock_loss = [](const auto& x) {
  auto sum = 0.0 * x[0];
  for (Index i = 0; i < x.size(); i += 2) {
    sum += 100.0 * pow(x[i] * x[i] - x[i + 1], 2) + pow(x[i] - 1.0, 2);
  }
  return sum;
};
inline constexpr auto booth_loss = [](const auto& x) {
  return pow(x[0] + 2.0 * x[1] - 7.0, 2) + pow(2.0 * x[0] + x[1] - 5.0, 2);
};
/// None of the library's functions: all derivatives differ from zero everywhere.
inline constexpr auto wavy_loss = [](const auto& x) {
  using std::exp, std::sin, std::tanh;
  return exp(0.3 * x[0]) * sin(x[1]) + tanh(x[0] * x[2]) + pow(x[2], 4) + x[1] * x[1];
};

template <class Loss>
std::shared_ptr<const Objective> generic(Index dimension, Loss loss) {
  return std::make_shared<GenericObjective<Loss>>(dimension, loss);
}

inline Quadratic dense_quadratic(Index n, std::uint64_t seed = 11) {
  Random random(seed);
  return Quadratic(random_positive_definite(n, random));
}

/// Y has full rank, so that a factorisation of lower rank leaves something over.
inline MatrixFactorization full_rank_factorization(Index rows, Index cols, Index rank) {
  Random random(12);
  return MatrixFactorization(random.normal_matrix(rows, cols), rank);
}

inline LinearModel random_linear_model(Index outputs, Index inputs, Index samples,
                                       std::uint64_t seed = 13) {
  Random random(seed);
  const Matrix X = random.normal_matrix(inputs, samples);
  return LinearModel(X, random.normal_matrix(outputs, samples));
}

struct ObjectiveRow {
  std::string name;
  std::shared_ptr<const Objective> objective;
  /// The same object when it is a test function, else null.
  std::shared_ptr<const TestFunction> function = nullptr;
};

template <class T>
ObjectiveRow test_function_row(std::string name, T function) {
  auto shared = std::make_shared<const T>(std::move(function));
  return {std::move(name), shared, shared};
}

/// Every objective of the foundation, in several shapes. A new one is a new row.
inline std::vector<ObjectiveRow> objective_table() {
  const Matrix A = dense_quadratic(4).A();
  return {
      test_function_row("ellipse a=5", Ellipse(5.0)),
      test_function_row("ellipse a=0.1", Ellipse(0.1)),
      test_function_row("ellipse a=1", Ellipse(1.0)),
      test_function_row("rosenbrock", Rosenbrock(1)),
      test_function_row("rosenbrock 3 pairs", Rosenbrock(3)),
      test_function_row("booth", Booth()),
      test_function_row("quadratic dense", dense_quadratic(5)),
      test_function_row("quadratic diagonal", Quadratic::diagonal(6, 100.0)),
      test_function_row("quadratic rotated", Quadratic::rotated(6, 100.0, 3)),
      test_function_row("quadratic of one variable", Quadratic::diagonal(1, 3.0)),
      test_function_row("factorization 4x3 rank 2", full_rank_factorization(4, 3, 2)),
      test_function_row("factorization 2x5 rank 3", full_rank_factorization(2, 5, 3)),
      test_function_row("factorization 3x3 rank 1", full_rank_factorization(3, 3, 1)),
      test_function_row("factorization of exact rank", MatrixFactorization::random(4, 5, 2, 3)),
      test_function_row("completion", MatrixCompletion::random(4, 5, 2, 10.0, 0.7, 3)),
      {"linear model", std::make_shared<const LinearModel>(random_linear_model(2, 3, 5))},
      {"generic ellipse", generic(2, ellipse_loss)},
      {"generic rosenbrock", generic(6, rosenbrock_loss)},
      {"generic booth", generic(2, booth_loss)},
      {"generic quadratic", generic(4, [A](const auto& x) { return x.dot(A * x); })},
      {"generic wavy", generic(3, wavy_loss)},
  };
}

/// Points at several distances from the origin.
inline std::vector<Vector> random_points(Index n, Random& random) {
  std::vector<Vector> points;
  for (const double size : {0.01, 0.5, 1.0, 3.0}) points.push_back(random_vector(n, random, size));
  return points;
}

}  // namespace symport::testing
