// SPDX-License-Identifier: MIT
// Draws the picture of the README: the loss on Rosenbrock's function at the paper's settings,
// without teleportation, with the paper's search, and with the global scan of the predicted
// decrease.
//   example_loss_curves > docs/rosenbrock.svg
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <symport/symport.hpp>
#include <vector>

namespace {

using namespace symport;

struct Curve {
  std::string name, colour;
  RunSummary run;
};

constexpr double left = 64, top = 16, width = 560, height = 300;
constexpr double highest = 4, lowest = -32;  // powers of ten on the vertical axis
constexpr double steps = 1000;

double x_of(double step) { return left + width * step / steps; }
double y_of(double loss) {
  const double power = std::clamp(std::log10(std::max(loss, 1e-300)), lowest, highest);
  return top + height * (highest - power) / (highest - lowest);
}

void draw(const std::vector<Curve>& curves) {
  std::cout << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 372' "
               "font-family='sans-serif' font-size='12'>\n"
               "<rect width='640' height='372' fill='#ffffff'/>\n";
  for (double power = lowest; power <= highest; power += 4) {
    const double y = y_of(std::pow(10.0, power));
    std::cout << "<line x1='" << left << "' x2='" << left + width << "' y1='" << y << "' y2='" << y
              << "' stroke='#dddddd'/><text x='" << left - 6 << "' y='" << y + 4
              << "' text-anchor='end' fill='#444444'>1e" << power << "</text>\n";
  }
  for (double step = 0; step <= steps; step += 200) {
    std::cout << "<text x='" << x_of(step) << "' y='" << top + height + 18
              << "' text-anchor='middle' fill='#444444'>" << step << "</text>\n";
  }
  std::cout << "<text x='" << left + width / 2 << "' y='" << top + height + 34
            << "' text-anchor='middle' fill='#444444'>step</text>\n"
               "<text transform='translate(14 "
            << top + height / 2
            << ") rotate(-90)' text-anchor='middle' fill='#444444'>loss</text>\n";
  double legend = top + 130;
  for (const Curve& curve : curves) {
    std::cout << "<polyline fill='none' stroke-width='2' stroke='" << curve.colour << "' points='";
    for (const TraceRow& row : curve.run.trace.rows) {
      std::cout << x_of(static_cast<double>(row.step)) << ',' << y_of(row.loss) << ' ';
    }
    std::cout << "'/>\n";
    for (const TraceRow& row : curve.run.trace.rows) {
      if (!row.teleported) continue;
      std::cout << "<circle r='3' fill='" << curve.colour << "' cx='"
                << x_of(static_cast<double>(row.step)) << "' cy='" << y_of(row.loss) << "'/>\n";
    }
    std::cout << "<text text-anchor='end' x='" << left + width - 8 << "' y='" << legend
              << "' fill='" << curve.colour << "'>" << curve.name << "</text>\n";
    legend += 18;
  }
  std::cout << "</svg>\n";
}

}  // namespace

int main() {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const FixedAscent paper({.steps = 10, .rate = 0.1});
  const auto run = [&](const Teleportation<double>& teleport) {
    Vector w = objective.start();
    return train(objective, GradientDescent{}, w,
                 {.max_steps = 1000, .learning_rate = 1e-3, .teleport = teleport, .seed = 1});
  };
  const std::vector<Curve> curves{
      {"gradient descent", "#777777", run({})},
      {"with teleports, the paper's search", "#1f6fb4",
       run({.symmetry = &symmetry,
            .search = &paper,
            .schedule = every(100, 99),
            .objective = ObjectiveKind::gradient_norm})},
      {"with teleports, global scan of the predicted decrease", "#d95f02",
       run({.symmetry = &symmetry, .schedule = every(100, 99)})},
  };
  draw(curves);
  const bool in_order = curves[2].run.final_loss < curves[1].run.final_loss &&
                        curves[1].run.final_loss < curves[0].run.final_loss;
  return in_order ? EXIT_SUCCESS : EXIT_FAILURE;
}
