// SPDX-License-Identifier: MIT
// Row 10: 1000 gradient-descent steps on Rosenbrock's function with 10 teleports of 10 ascent steps
// each (the paper's setting), without tracing; also against the same loop written by hand below.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <symport/symport.hpp>

#include "contest.hpp"
#include "parts.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index steps = 1000, period = 100, offset = 99, ascent_steps = 10;
constexpr double learning_rate = 1e-3, ascent_rate = 0.1;

struct Point {
  double x, y;
};

Point gradient(Point p) {
  const double valley = p.x * p.x - p.y;
  return {400 * p.x * valley + 2 * (p.x - 1), -200 * valley};
}

/// By hand: nothing but the arithmetic.
double by_hand() {
  Point p{-1.0, -1.0};
  Random random(1);
  for (Index t = 0; t < steps; ++t) {
    if (t % period == offset) {
      const double u0 = 10 * (p.x * p.x - p.y), v0 = p.x - 1;
      double angle = random.uniform(0.0, std::numbers::pi), u = 0, v = 0;
      const auto place = [&] {
        const double c = std::cos(angle), s = std::sin(angle);
        u = c * u0 - s * v0;
        v = s * u0 + c * v0;
        p = {v + 1, (v + 1) * (v + 1) - u / 10};
      };
      place();
      for (Index k = 0; k < ascent_steps; ++k) {
        const Point g = gradient(p);
        const double cross = -400 * p.x;
        const double hx = (1200 * p.x * p.x - 400 * p.y + 2) * g.x + cross * g.y;
        const double hy = cross * g.x + 200 * g.y;
        // d|g|^2/dangle = 2 <Hg, dp/dangle>, (du, dv) = (-v, u), dp = (dv, 2 x dv - du / 10)
        angle = std::remainder(angle + ascent_rate * 2 * (hx * u + hy * (2 * p.x * u + v / 10)),
                               2 * std::numbers::pi);
        place();
      }
    }
    const Point g = gradient(p);
    p.x -= learning_rate * g.x;
    p.y -= learning_rate * g.y;
  }
  const double valley = p.x * p.x - p.y;
  return 100 * valley * valley + (p.x - 1) * (p.x - 1);
}

double by_library() {
  static const Rosenbrock objective;
  static const RotationSymmetry symmetry = rosenbrock_rotation();
  static const FixedAscent search({.steps = ascent_steps, .rate = ascent_rate});
  Vector w{{-1.0, -1.0}};
  return train(objective, GradientDescent{}, w,
               {.max_steps = steps,
                .learning_rate = learning_rate,
                .teleport = {.symmetry = &symmetry,
                             .search = &search,
                             .schedule = every(period, offset),
                             .objective = ObjectiveKind::gradient_norm},
                .seed = 1,
                .trace = false})
      .final_loss;
}

}  // namespace

void bench_rosenbrock(Bench& bench) {
  constexpr int runs = 20;
  // The last teleports start in rounding noise of a chaotic ascent; the order of magnitude must
  // agree.
  const double hand = by_hand(), library = by_library();
  constexpr double small = 1e-3;
  if (!(library < small && hand < small)) {
    throw std::runtime_error(
        fmt::format("the loops disagree: {} by hand, {} by the library", hand, library));
  }
  volatile double sink = 0.0;
  const auto repeated = [&](double (*work)()) {
    return seconds_of([&] {
      for (int i = 0; i < runs; ++i) sink = work();
    });
  };
  Contest contest(bench);
  const auto ours = contest.ours([&] { return repeated(by_library); });
  const auto loop = contest.ours([&] { return repeated(by_hand); });
  contest.theirs("rosenbrock 1", 1.0, [&](const Framework& framework, const auto& answer) {
    if (answer.at(1) < small) return;
    throw std::runtime_error(
        fmt::format("{} ends at {} on Rosenbrock's function", framework.name(), answer.at(1)));
  });
  contest.run(bench.rounds);
  contest.add_fastest("10", {.work = "Rosenbrock, 1000 steps and 10 ten-step teleports",
                             .ours = ours,
                             .units = runs,
                             .goal = 200});
  bench.report.remark(fmt::format("the loop of 10 by hand: {:.1f} us, by the library {:.1f} us",
                                  1e3 * contest.milliseconds(loop, runs),
                                  1e3 * contest.milliseconds(ours, runs)));
}

}  // namespace symport::benchmarks
