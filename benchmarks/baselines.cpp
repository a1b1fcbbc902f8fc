// SPDX-License-Identifier: MIT
// Row 13: K-FAC, Shampoo and Muon against PyTorch and JAX. Steps of the optimizers that others are
// compared with, in SGD steps: no goals.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <symport/symport.hpp>

#include "contest.hpp"
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

using MadeOptimizer = std::unique_ptr<BasicOptimizer<float>>;

/// Slow enough that a hundred rounds stay where they are.
constexpr double slow = 1e-5;

/// The loss before the last of some steps from the start.
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

/// The frameworks' algorithm must take the path of ours, with new inverses or roots on the way.
struct SamePath {
  const BasicOptimizer<float>& ours;
  std::string command;  ///< what follows steps and rate
  double rate;
};
void require_same_path(const ImageProblem& problem, const Framework& framework,
                       const SamePath& path, const std::string& name) {
  constexpr int few = 7;
  require_same(
      "loss after steps of " + name, last_loss(problem, path.ours, path.rate, few), framework,
      framework.ask(fmt::format("{} {} {} {}", name, few, path.rate, path.command)).at(1), 2e-3);
}

void against_frameworks(Bench& bench, const ImageProblem& problem) {
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  const Mlp& network = problem.objective.network();
  // On these layers the inverses of K-FAC are made every tenth step without being asked for.
  constexpr Index kfac_refresh = 10, shampoo_refresh = 20, few = 3;
  Run kfac(problem, std::make_unique<Kfac<float>>(network), slow);
  Run shampoo(problem, std::make_unique<Shampoo<float>>(network.layout()), slow);
  Run muon(problem, std::make_unique<Muon<float>>(network.layout()), slow);
  // With targets of the batch, so that nothing is drawn.
  const Kfac<float> same_kfac(network, {.refresh = few, .fisher = Fisher::empirical});
  const Shampoo<float> same_shampoo(network.layout(), {.refresh = few});
  const Muon<float> same_muon(network.layout());

  Contest contest(bench);
  const auto our_kfac = contest.ours([&] { return kfac.seconds(); });
  const auto our_shampoo = contest.ours([&] { return shampoo.seconds(); });
  const auto our_muon = contest.ours([&] { return muon.seconds(); });
  const auto their_kfac = contest.theirs(
      fmt::format("kfac {} {} {} sampled", steps, slow, kfac_refresh), steps,
      [&](const Framework& framework, const auto&) {
        require_same_path(problem, framework, {same_kfac, fmt::format("{} empirical", few), 1e-2},
                          "kfac");
      });
  const auto their_shampoo =
      contest.theirs(fmt::format("shampoo {} {} {}", steps, slow, shampoo_refresh), steps,
                     [&](const Framework& framework, const auto&) {
                       require_same_path(problem, framework,
                                         {same_shampoo, fmt::format("{}", few), 1e-1}, "shampoo");
                     });
  // Its path is another one: its first roots are as old as all others.
  const auto scalable =
      contest.theirs(fmt::format("scalable {} {} {}", steps, slow, shampoo_refresh), steps,
                     [](const Framework&, const auto&) {});
  const auto muon_of = [&](const std::string& name) {
    return contest.theirs(fmt::format("{} {} {}", name, steps, slow), steps,
                          [&, name](const Framework& framework, const auto&) {
                            require_same_path(problem, framework, {same_muon, "", 1e-3}, name);
                          });
  };
  const auto their_muon = muon_of("muon"), muon_of_torch = muon_of("torch_muon");
  contest.run(std::max(3, bench.rounds / 3));
  contest.add_each({"13a", "13b", ""}, {.work = "K-FAC step, batch 100, inverses every 10 steps",
                                        .ours = our_kfac,
                                        .units = steps,
                                        .theirs = their_kfac});
  contest.add_each({"13c", "13d", ""}, {.work = "Shampoo step, batch 100, roots every 20 steps",
                                        .ours = our_shampoo,
                                        .units = steps,
                                        .theirs = their_shampoo});
  contest.add_each({"13e", "", ""}, {.work = "the same, pytorch_optimizer's ScalableShampoo",
                                     .ours = our_shampoo,
                                     .units = steps,
                                     .theirs = scalable});
  contest.add_each({"13f", "13g", "13h"}, {.work = "Muon step, batch 100, in float",
                                           .ours = our_muon,
                                           .units = steps,
                                           .theirs = their_muon});
  contest.add_each({"13i", "", ""}, {.work = "the same, torch.optim.Muon in bfloat16",
                                     .ours = our_muon,
                                     .units = steps,
                                     .theirs = muon_of_torch});
}

}  // namespace

void bench_baselines(Bench& bench) {
  const ImageProblem problem = image_problem(bench.images.source, batch);
  const Mlp& network = problem.objective.network();
  against_frameworks(bench, problem);
  Run sgd(problem, std::make_unique<GradientDescent<float>>(), image_rate);
  std::vector<MadeOptimizer> optimizers;
  optimizers.push_back(std::make_unique<Kfac<float>>(network));
  optimizers.push_back(std::make_unique<Shampoo<float>>(network.layout()));
  optimizers.push_back(std::make_unique<Muon<float>>(network.layout()));
  optimizers.push_back(std::make_unique<Soap<float>>(network.layout()));
  optimizers.push_back(std::make_unique<Prodigy<float>>());
  optimizers.push_back(std::make_unique<PathSgd<float>>(network));
  if (!network.biases()) optimizers.push_back(std::make_unique<Gsgd<float>>(network));
  for (auto& optimizer : optimizers) {
    Run run(problem, std::move(optimizer), slow);
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
