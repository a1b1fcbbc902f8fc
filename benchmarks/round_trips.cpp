// SPDX-License-Identifier: MIT
// Row 12: what a round trip costs.
#include <fmt/format.h>

#include <memory>
#include <symport/symport.hpp>

#include "contest.hpp"
#include "parts.hpp"

namespace symport::benchmarks {

namespace {

/// Seconds of some steps from w (a copy), checks of theta included as they come.
double step_seconds(const ImageProblem& problem, const BasicOptimizer<float>& optimizer,
                    double rate, int steps) {
  VectorOf<float> w = problem.w;
  OptimizerState<float> state = optimizer.init(w.size());
  // The first steps are all checked; they are no measure of the others.
  for (int i = 0; i < 40; ++i) optimizer.minibatch_step(problem.objective, rate, state, w);
  return seconds_of([&] {
    for (int i = 0; i < steps; ++i) {
      optimizer.minibatch_step(problem.objective, rate, state, w);
    }
  });
}

/// The loss before the last of some steps from w.
double last_loss(const ImageProblem& problem, const BasicOptimizer<float>& optimizer, double rate,
                 int steps) {
  VectorOf<float> w = problem.w;
  OptimizerState<float> state = optimizer.init(w.size());
  double last = 0.0;
  for (int i = 0; i < steps; ++i) {
    last = optimizer.minibatch_step(problem.objective, rate, state, w);
  }
  return last;
}

}  // namespace

void bench_round_trips(Bench& bench) {
  constexpr int steps = 64;  // two checks
  const GradientDescent<float> sgd;
  const auto gd = std::make_shared<GradientDescent<float>>();
  struct Entry {
    const char* row;
    std::array<const char*, 3> rows;
    Index batch;
    double goal;
  };
  for (const Entry& entry : {Entry{"12a", {"12c", "12d", "12e"}, 100, 1.35},
                             Entry{"12b", {"12f", "12g", "12h"}, 20, 1.25}}) {
    const ImageProblem problem = image_problem(bench.images.source, entry.batch);
    give_problem<float>(bench, problem.objective, problem.w, 1e-5);
    const RoundTrip<float> trip(problem.objective, gd);
    const RoundTrip<float> unchecked(problem.objective, gd, {.check_every = 0});
    const RoundTrip<float> average(problem.objective, gd,
                                   {.gauge = {.kernel = GaugeKernel::average}});
    const double theta = trip.usual_rate(), damping = 0.1;
    Contest contest(bench);
    const auto ours = contest.ours([&] { return step_seconds(problem, trip, theta, steps); });
    const auto plain = contest.ours([&] { return step_seconds(problem, sgd, image_rate, steps); });
    const auto mean = contest.ours([&] { return step_seconds(problem, average, theta, steps); });
    contest.theirs(
        fmt::format("roundtrip {} {} {}", steps, theta, damping), steps,
        [&](const Framework& framework, const auto&) {
          constexpr int few = 6;  // later ones follow the rounding of the first
          require_same(
              "loss after round trips", last_loss(problem, unchecked, theta, few), framework,
              framework.ask(fmt::format("roundtrip {} {} {}", few, theta, damping)).at(1), 1e-3);
        });
    contest.run(bench.rounds);
    const std::string work = fmt::format("round trip, batch {}", entry.batch);
    bench.report.add({entry.row, work + ", in SGD steps", contest.ratio(ours, plain), Goal::at_most,
                      entry.goal,
                      fmt::format("{:.3f} ms, SGD {:.3f} ms", contest.milliseconds(ours, steps),
                                  contest.milliseconds(plain, steps))});
    contest.add_each(entry.rows, {.work = work, .ours = ours, .units = steps, .goal = 1.6});
    bench.report.remark(fmt::format("{} with the running mean: {:.2f} SGD steps, {:.3f} ms", work,
                                    contest.ratio(mean, plain).median,
                                    contest.milliseconds(mean, steps)));
  }
}

}  // namespace symport::benchmarks
