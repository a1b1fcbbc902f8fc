// SPDX-License-Identifier: MIT
// Shares vectors and matrices with the installed library in both directions.
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>

int main() {
  using namespace symport;
  const MatrixFactorization problem = MatrixFactorization::random(6, 5, 2, 1);
  const FactorPairSymmetry symmetry(problem);
  Vector w = problem.start();
  const RunSummary run =
      train(problem, GradientDescent{}, w,
            {.max_steps = 200, .learning_rate = 1e-3, .teleport = {&symmetry, nullptr, every(50)}});
  std::cout << run.brief_report() << '\n';
  const bool improved = run.final_loss < run.trace.rows.front().loss;
  return improved && run.accepted_teleports() > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
