// SPDX-License-Identifier: MIT
// Row 12: what a round trip costs.
#include <fmt/format.h>

#include <memory>
#include <symport/symport.hpp>

#include "contest.hpp"
#include "parts.hpp"
#include "ratio.hpp"

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

struct GaugeRow {
  const char* row;
  Index batch;
  double goal;
};

/// Steps in the gauge in steps of the same rule without it.
template <class Rule>
void add_in_gauge(Bench& bench, std::string_view name, double rate, const GaugeRow& small,
                  const GaugeRow& large) {
  const auto rule = std::make_shared<Rule>();
  const RoundTrip<float> trip(rule);
  for (const GaugeRow& row : {small, large}) {
    const ImageProblem problem = image_problem(bench.images.source, row.batch);
    const int steps = 40;  // four new gauges
    Alternating times(2);
    times.run(
        std::max(3, bench.rounds / 3), [&] { return step_seconds(problem, trip, rate, steps); },
        [&] { return step_seconds(problem, *rule, rate, steps); });
    bench.report.add(
        {row.row, fmt::format("{} in the gauge, batch {}, in its own steps", name, row.batch),
         times.ratio(0, 1), Goal::at_most, row.goal,
         fmt::format("{:.3f} ms, plain {:.3f} ms", 1e3 * times.median_seconds(0) / steps,
                     1e3 * times.median_seconds(1) / steps)});
  }
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
    const MetricRoundTrip<float> trip(gd), unchecked(gd, {.check_every = 0});
    const double theta = trip.usual_rate(problem.objective), damping = 0.1;
    Contest contest(bench);
    const auto ours = contest.ours([&] { return step_seconds(problem, trip, theta, steps); });
    const auto plain = contest.ours([&] { return step_seconds(problem, sgd, image_rate, steps); });
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
  }
  add_in_gauge<Momentum<float>>(bench, "momentum", 1e-3, {"12i", 100, 2.0}, {"12j", 1000, 1.3});
  add_in_gauge<Adam<float>>(bench, "Adam", 1e-4, {"12k", 100, 2.0}, {"12l", 1000, 1.3});
}

}  // namespace symport::benchmarks
