// SPDX-License-Identifier: MIT
// Runs of a function of your own, kept as directories that `symport report` draws. The writer is in
// the second library, symport_lab: add_subdirectory(symport) and link symport::lab.
#include <filesystem>
#include <iostream>
#include <symport/symport.hpp>

#include "lab/runs/own_run.hpp"

int main(int count, char** words) {
  using namespace symport;
  const std::filesystem::path directory = count > 1 ? words[1] : "runs/own_page";
  // L(x) = (x1 x2 - 1)^2 keeps its value under (s x1, x2 / s).
  const GenericObjective objective(2, [](const auto& x) { return pow(x[0] * x[1] - 1.0, 2); });
  ParameterLayout layout;
  layout.add("x1", 1).add("x2", 1);
  const SlotSymmetry<double> scaling(
      layout, {{GroupKind::scaling, 1, {{"x1"}, {"x2", 0, Representation::dual}}}});

  Vector plain{{3.0, 1.0}}, teleported = plain;
  const double rate = 0.01;
  const Index steps = 200;
  const RunSummary without =
      train(objective, GradientDescent{}, plain, {.max_steps = steps, .learning_rate = rate});
  const RunSummary with = train(
      objective, GradientDescent{}, teleported,
      {.max_steps = steps, .learning_rate = rate, .teleport = {&scaling, nullptr, every(10)}});
  const std::string formula = "(x1*x2 - 1)^2";
  lab::write_own_run(directory / "plain",
                     {.name = "product", .formula = formula, .learning_rate = rate, .x = plain},
                     without, true);
  lab::write_own_run(directory / "teleported",
                     {.name = "product",
                      .formula = formula,
                      .learning_rate = rate,
                      .teleport = "every:10",
                      .x = teleported},
                     with, true);
  std::cout << "without: " << without.brief_report() << "\nwith:    " << with.brief_report()
            << "\nNow: symport report " << directory.string() << '\n';
  return with.final_loss <= without.final_loss ? 0 : 1;
}
