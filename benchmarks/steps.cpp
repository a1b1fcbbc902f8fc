// SPDX-License-Identifier: MIT
// Rows 1 and 2: steps of optimizers.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <symport/symport.hpp>

#include "contest.hpp"
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

void require_same(const std::string& what, double ours, const Framework& framework, double theirs,
                  double tolerance) {
  if (std::abs(ours - theirs) <= tolerance * std::max(std::abs(ours), std::abs(theirs))) return;
  throw std::runtime_error(fmt::format("{}: {:.9g} here, {:.9g} by {}; not the same work", what,
                                       ours, theirs, framework.name()));
}

template <Real Scalar>
void give_problem(const Bench& bench, const MlpObjective<Scalar>& objective, In<Scalar> w,
                  double tolerance) {
  const double here = objective.value(w);
  for (const auto& framework : bench.frameworks) {
    require_same("loss", here, *framework, framework->give<Scalar>("problem", objective, w),
                 tolerance);
  }
}
template void give_problem(const Bench&, const MlpObjective<float>&, In<float>, double);
template void give_problem(const Bench&, const MlpObjective<double>&, In<double>, double);

double sgd_seconds(const ImageProblem& problem, int steps) {
  VectorOf<float> w = problem.w;
  return seconds_of([&] {
    for (int i = 0; i < steps; ++i) problem.objective.gradient_step(w, image_rate);
  });
}

void bench_sgd(Bench& bench) {
  constexpr int steps = 100;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  VectorOf<float> w = problem.w;
  double last = 0.0;
  for (int i = 0; i < steps; ++i) last = problem.objective.gradient_step(w, image_rate);

  BareProducts products(problem.objective.network(), batch);
  Contest contest(bench);
  const auto ours = contest.ours([&] { return sgd_seconds(problem, steps); });
  const auto bare = contest.ours([&] {
    return seconds_of([&] {
      for (int i = 0; i < steps; ++i) products();
    });
  });
  contest.theirs(fmt::format("sgd {} {}", steps, image_rate), steps,
                 [&](const Framework& framework, const auto& answer) {
                   require_same("loss after SGD steps", last, framework, answer.at(1), 1e-3);
                 });
  contest.run(bench.rounds);
  contest.add_fastest("1a", {.work = "SGD step, 784-512-512-10, batch 20, float",
                             .ours = ours,
                             .units = steps,
                             .goal = 1.6});
  bench.report.add({"1b", "the same: ours / its bare matrix products", contest.ratio(ours, bare),
                    Goal::at_most, 1.15,
                    fmt::format("products {:.3f} ms", contest.milliseconds(bare, steps))});
}

void bench_optimizers(Bench& bench) {
  constexpr int steps = 40;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  struct Entry {
    std::string row, name;
    std::unique_ptr<BasicOptimizer<float>> optimizer;
    double rate;
  };
  std::vector<Entry> entries;
  entries.push_back(
      {"2a", "adagrad", std::make_unique<AdaGrad<float>>(AdaGradOptions{.epsilon = 1e-10}), 1e-3});
  entries.push_back({"2b", "adam", std::make_unique<Adam<float>>(), 1e-4});
  std::vector<Ratio> dearer;
  std::string note;
  for (const Entry& entry : entries) {
    double last = 0.0;
    optimizer_seconds(problem, *entry.optimizer, entry.rate, steps, last);
    Contest contest(bench);
    const auto ours = contest.ours(
        [&] { return optimizer_seconds(problem, *entry.optimizer, entry.rate, steps, last); });
    const auto sgd = contest.ours([&] { return sgd_seconds(problem, steps); });
    contest.theirs(fmt::format("{} {} {}", entry.name, steps, entry.rate), steps,
                   [&](const Framework& framework, const auto& answer) {
                     require_same(entry.name, last, framework, answer.at(1), 1e-2);
                   });
    contest.run(bench.rounds);
    contest.add_fastest(
        entry.row,
        {.work = entry.name + " step, batch 20", .ours = ours, .units = steps, .goal = 2.5});
    dearer.push_back(contest.ratio(ours, sgd));
    note += fmt::format("{}{}: {:.2f}", note.empty() ? "" : ", ", entry.name, dearer.back().median);
  }
  const auto less = [](const Ratio& a, const Ratio& b) { return a.median < b.median; };
  bench.report.add({"2c", "AdaGrad and Adam step: in SGD steps, the worse of both",
                    *std::max_element(dearer.begin(), dearer.end(), less), Goal::at_most, 1.6,
                    note});
}

}  // namespace symport::benchmarks
