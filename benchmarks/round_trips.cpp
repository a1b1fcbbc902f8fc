// SPDX-License-Identifier: MIT
// Row 12: what a round trip costs.
#include <fmt/format.h>

#include <memory>
#include <symport/symport.hpp>

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

}  // namespace

void bench_round_trips(Bench& bench) {
  constexpr int steps = 64;  // two checks
  const GradientDescent<float> sgd;
  const auto gd = std::make_shared<GradientDescent<float>>();
  struct Entry {
    const char* row;
    Index batch;
    GaugeKernel kernel;
    double goal;  ///< 0: none
  };
  for (const Entry& entry :
       {Entry{"12a", 100, GaugeKernel::batch, 1.35}, Entry{"12b", 20, GaugeKernel::batch, 1.25},
        Entry{"12c", 100, GaugeKernel::average, 0.0}}) {
    const ImageProblem problem = image_problem(bench.images.source, entry.batch);
    const RoundTrip<float> trip(problem.objective, gd, {.gauge = {.kernel = entry.kernel}});
    Alternating times(2);
    times.run(
        bench.rounds, [&] { return step_seconds(problem, trip, trip.usual_rate(), steps); },
        [&] { return step_seconds(problem, sgd, image_rate, steps); });
    const auto ms = [&](std::size_t kind) { return 1e3 * times.median_seconds(kind) / steps; };
    const std::string work = fmt::format("round trip, batch {}, {} kernel, in SGD steps",
                                         entry.batch, to_string(entry.kernel));
    const std::string note = fmt::format("{:.3f} ms, SGD {:.3f} ms", ms(0), ms(1));
    if (entry.goal > 0.0) {
      bench.report.add({entry.row, work, times.ratio(0, 1), Goal::at_most, entry.goal, note});
    } else {
      bench.report.remark(fmt::format("{}: {:.2f} ({})", work, times.ratio(0, 1).median, note));
    }
  }
}

}  // namespace symport::benchmarks
