// SPDX-License-Identifier: MIT
// The program in the README.
#include <iostream>
#include <symport/symport.hpp>

int main() {
  using namespace symport;
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const OrbitAscent search({.max_steps = 10});
  Vector w{{-1.0, -1.0}};
  const RunSummary run = train(
      objective, GradientDescent{}, w,
      {.max_steps = 1000, .learning_rate = 1e-3, .teleport = {&symmetry, &search, every(100)}});
  std::cout << run.brief_report() << '\n';
}
