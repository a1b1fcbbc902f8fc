// SPDX-License-Identifier: MIT
// Rows 1 and 2: steps of optimizers.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <symport/symport.hpp>

#include "parts.hpp"
#include "symport/core/gemm.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index batch = 20;

/// The matrix products of one SGD step and nothing else.
class BareProducts {
 public:
  BareProducts(const Mlp& network, Index samples) {
    for (Index m = 0; m <= network.layers(); ++m) {
      states_.push_back(MatrixOf<float>::Random(network.width(m), samples));
      if (m > 0) {
        weights_.push_back(0.01f * MatrixOf<float>::Random(network.width(m), network.width(m - 1)));
      }
    }
  }
  void operator()() {
    const std::size_t p = weights_.size();
    for (std::size_t m = 0; m < p; ++m) {
      multiply<float>(1, false, weights_[m], false, states_[m], 0, states_[m + 1]);
    }
    for (std::size_t m = p; m-- > 0;) {
      if (m > 0) multiply<float>(1, true, weights_[m], false, states_[m + 1], 0, states_[m]);
      multiply<float>(-1e-9f, false, states_[m + 1], true, states_[m], 1, weights_[m]);
    }
  }

 private:
  std::vector<MatrixOf<float>> weights_, states_;
};

/// Seconds of some steps of an optimizer from w; the loss before the last one goes to `last`.
double optimizer_seconds(const ImageProblem& problem, const BasicOptimizer<float>& optimizer,
                         double rate, int steps, double& last) {
  VectorOf<float> w = problem.w;
  OptimizerState<float> state = optimizer.init(w.size());
  return seconds_of([&] {
    for (int i = 0; i < steps; ++i) {
      last = optimizer.minibatch_step(problem.objective, rate, state, w);
    }
  });
}

}  // namespace

void require_same(const char* what, double ours, double theirs, double tolerance) {
  if (std::abs(ours - theirs) <= tolerance * std::max(std::abs(ours), std::abs(theirs))) return;
  throw std::runtime_error(
      fmt::format("{}: {:.9g} here, {:.9g} by LibTorch; not the same work", what, ours, theirs));
}

double sgd_seconds(const ImageProblem& problem, int steps) {
  VectorOf<float> w = problem.w;
  return seconds_of([&] {
    for (int i = 0; i < steps; ++i) problem.objective.gradient_step(w, image_rate);
  });
}

void bench_sgd(Bench& bench) {
  constexpr int steps = 100;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  require_same("loss", problem.objective.value(problem.w),
               bench.torch.give<float>("problem", problem.objective, problem.w), 1e-5);
  VectorOf<float> w = problem.w;
  double last = 0.0;
  for (int i = 0; i < steps; ++i) last = problem.objective.gradient_step(w, image_rate);
  const std::string command = fmt::format("sgd {} {}", steps, image_rate);
  require_same("loss after SGD steps", last, bench.torch.ask(command).at(1), 1e-3);

  BareProducts products(problem.objective.network(), batch);
  Alternating times(3);
  times.run(
      bench.rounds, [&] { return sgd_seconds(problem, steps); },
      [&] { return bench.torch.ask(command).front(); },
      [&] {
        return seconds_of([&] {
          for (int i = 0; i < steps; ++i) products();
        });
      });
  const auto ms = [&](std::size_t kind) { return 1e3 * times.median_seconds(kind) / steps; };
  bench.report.add({"1a", "SGD step, 784-512-512-10, batch 20, float: LibTorch / ours",
                    times.ratio(1, 0), Goal::at_least, 1.6,
                    fmt::format("{:.3f} ms, LibTorch {:.3f} ms", ms(0), ms(1))});
  bench.report.add({"1b", "the same: ours / its bare matrix products", times.ratio(0, 2),
                    Goal::at_most, 1.15, fmt::format("products {:.3f} ms", ms(2))});
}

void bench_optimizers(Bench& bench) {
  constexpr int steps = 40;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  bench.torch.give<float>("problem", problem.objective, problem.w);
  struct Entry {
    std::string name;
    std::unique_ptr<BasicOptimizer<float>> optimizer;
    double rate;
  };
  std::vector<Entry> entries;
  entries.push_back(
      {"adagrad", std::make_unique<AdaGrad<float>>(AdaGradOptions{.epsilon = 1e-10}), 1e-3});
  entries.push_back({"adam", std::make_unique<Adam<float>>(), 1e-4});
  std::vector<Ratio> faster, dearer;
  std::string note;
  for (const Entry& entry : entries) {
    const std::string command = fmt::format("{} {} {}", entry.name, steps, entry.rate);
    double last = 0.0;
    optimizer_seconds(problem, *entry.optimizer, entry.rate, steps, last);
    require_same(entry.name.c_str(), last, bench.torch.ask(command).at(1), 1e-2);
    Alternating times(3);
    times.run(
        bench.rounds,
        [&] { return optimizer_seconds(problem, *entry.optimizer, entry.rate, steps, last); },
        [&] { return bench.torch.ask(command).front(); },
        [&] { return sgd_seconds(problem, steps); });
    faster.push_back(times.ratio(1, 0));
    dearer.push_back(times.ratio(0, 2));
    note += fmt::format("{}{}: {:.2f} x LibTorch, {:.2f} SGD steps, {:.3f} ms",
                        note.empty() ? "" : "; ", entry.name, faster.back().median,
                        dearer.back().median, 1e3 * times.median_seconds(0) / steps);
  }
  const auto less = [](const Ratio& a, const Ratio& b) { return a.median < b.median; };
  bench.report.add({"2a", "AdaGrad and Adam step: LibTorch / ours, the worse of both",
                    *std::min_element(faster.begin(), faster.end(), less), Goal::at_least, 2.5,
                    note});
  bench.report.add({"2b", "the same: in SGD steps, the worse of both",
                    *std::max_element(dearer.begin(), dearer.end(), less), Goal::at_most, 1.6});
}

}  // namespace symport::benchmarks
