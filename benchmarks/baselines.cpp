// SPDX-License-Identifier: MIT
// Steps of the optimizers that others are compared with, in SGD steps. No goals.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <symport/symport.hpp>

#include "parts.hpp"
#include "ratio.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index batch = 100;
/// Of one measurement: whole rounds of every refresh.
constexpr int steps = 20;

/// A run that goes on from measurement to measurement, so that what is done less and less often in
/// the beginning is over.
class Run {
 public:
  Run(const ImageProblem& problem, std::unique_ptr<BasicOptimizer<float>> optimizer, double rate)
      : problem_(problem), optimizer_(std::move(optimizer)), rate_(rate), w_(problem.w) {
    state_ = optimizer_->init(w_.size());
    seconds();
    seconds();
  }
  std::string_view name() const { return optimizer_->name(); }
  double seconds() {
    return seconds_of([&] {
      for (int i = 0; i < steps; ++i) {
        optimizer_->minibatch_step(problem_.objective, rate_, state_, w_);
      }
    });
  }

 private:
  const ImageProblem& problem_;
  std::unique_ptr<BasicOptimizer<float>> optimizer_;
  double rate_;
  VectorOf<float> w_;
  OptimizerState<float> state_;
};

}  // namespace

void bench_baselines(Bench& bench) {
  const ImageProblem problem = image_problem(bench.images.source, batch);
  const Mlp& network = problem.objective.network();
  Run sgd(problem, std::make_unique<GradientDescent<float>>(), image_rate);
  std::vector<std::unique_ptr<BasicOptimizer<float>>> optimizers;
  optimizers.push_back(std::make_unique<Kfac<float>>(network));
  optimizers.push_back(std::make_unique<Shampoo<float>>(network.layout()));
  optimizers.push_back(std::make_unique<Prodigy<float>>());
  optimizers.push_back(std::make_unique<PathSgd<float>>(network));
  if (!network.biases()) optimizers.push_back(std::make_unique<Gsgd<float>>(network));
  for (auto& optimizer : optimizers) {
    // Slow enough that a hundred rounds stay where they are.
    Run run(problem, std::move(optimizer), 1e-5);
    Alternating times(2);
    times.run(
        std::max(3, bench.rounds / 3), [&] { return run.seconds(); },
        [&] { return sgd.seconds(); });
    bench.report.remark(fmt::format(
        "{} step, 784-512-512-10, batch {}, in SGD steps: {:.2f} ({:.2f} ms, SGD {:.2f} ms)",
        run.name(), batch, times.ratio(0, 1).median, 1e3 * times.median_seconds(0) / steps,
        1e3 * times.median_seconds(1) / steps));
  }
}

}  // namespace symport::benchmarks
