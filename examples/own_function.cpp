// SPDX-License-Identifier: MIT
// A function of your own: only the loss is written; all derivatives come from dual numbers. Its
// symmetry is stated by a change of variables in which the loss is |u|^2.
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>

int main() {
  using namespace symport;
  // L(x) = (x1 - 2)^2 + 50 (x2 - sin x1)^2
  const GenericObjective objective(2, [](const auto& x) {
    using std::sin;
    const auto along = x[0] - 2.0;
    const auto across = x[1] - sin(x[0]);
    return along * along + 50.0 * across * across;
  });
  const auto h = [](const auto& x) {
    using std::sin;
    auto u = x;
    u[0] = x[0] - 2.0;
    u[1] = std::sqrt(50.0) * (x[1] - sin(x[0]));
    return u;
  };
  const auto h_inverse = [](const auto& u) {
    using std::sin;
    auto x = u;
    x[0] = u[0] + 2.0;
    x[1] = u[1] / std::sqrt(50.0) + sin(x[0]);
    return x;
  };
  const auto symmetry = rotation(2, h, h_inverse);

  Vector plain{{-1.0, 1.0}}, teleported = plain;
  const RunSummary without =
      train(objective, GradientDescent{}, plain, {.max_steps = 300, .learning_rate = 5e-3});
  const RunSummary with = train(
      objective, GradientDescent{}, teleported,
      {.max_steps = 300, .learning_rate = 5e-3, .teleport = {&symmetry, nullptr, every(50, 10)}});
  std::cout << "without: " << without.brief_report() << "\nwith:    " << with.brief_report()
            << '\n';
  return with.final_loss < without.final_loss ? EXIT_SUCCESS : EXIT_FAILURE;
}
