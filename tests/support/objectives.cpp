// SPDX-License-Identifier: MIT
#include "support/objectives.hpp"

namespace symport::testing {

namespace {

template <class T>
ObjectiveRow test_function_row(std::string name, T function) {
  auto shared = std::make_shared<const T>(std::move(function));
  return {std::move(name), shared, shared};
}

}  // namespace

std::vector<ObjectiveRow> objective_table() {
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

}  // namespace symport::testing
