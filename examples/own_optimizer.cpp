// SPDX-License-Identifier: MIT
// An optimizer of your own with two buffers: AdaBelief (Zhuang et al., 2020), which divides by the
// spread of the gradients around their mean where Adam divides by their size. Teleports and
// checkpoints need nothing more than the names and kinds of the buffers: a run that is stopped and
// resumed through a file's arrays ends with the same bits.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>

namespace {

using namespace symport;

/// m <- 0.9 m + 0.1 g,  s <- 0.999 s + 0.001 (g - m)^2,  u = eta m' / (sqrt(s') + 1e-8), where a
/// prime divides by what the weights of the mean add up to.
class AdaBelief final : public FirstOrderOptimizer<double> {
 public:
  std::string_view name() const override { return "adabelief"; }

  OptimizerState<double> init(Index dimension) const override {
    OptimizerState<double> state;
    state.add("mean", StateKind::cotangent, dimension);
    state.add("spread", StateKind::squared_cotangent, dimension);
    return state;
  }

  void update(In<double>, In<double> gradient, double learning_rate,
              const StateRange<double>& state, Out<double> u) const override {
    auto mean = state[0], spread = state[1];
    const double steps = static_cast<double>(state.count() + 1);
    mean = 0.9 * mean + 0.1 * gradient;
    spread = 0.999 * spread + 0.001 * (gradient - mean).cwiseAbs2();
    const double first = 1.0 - std::pow(0.9, steps), second = 1.0 - std::pow(0.999, steps);
    u = (learning_rate / first) * mean.array() / ((spread / second).array().sqrt() + 1e-8);
  }
};

}  // namespace

int main() {
  const Booth objective;
  const auto symmetry = booth_rotation();
  const AdaBelief optimizer;
  TrainOptions<double> options{.max_steps = 400, .learning_rate = 0.1};
  Vector plain = objective.start(), teleported = plain;
  const RunSummary without = train(objective, optimizer, plain, options);
  options.teleport = {.symmetry = &symmetry, .schedule = Schedule::parse("5")};
  const RunSummary with = train(objective, optimizer, teleported, options);
  std::cout << "without: " << without.brief_report() << "\nwith:    " << with.brief_report()
            << '\n';

  ArrayMap saved;
  TrainOptions<double> stopped = options;
  stopped.watcher = [](const TraceRow& row) { return row.step < 100; };
  stopped.checkpoints.save = [&](const Checkpoint<double>& at) { saved = checkpoint_arrays(at); };
  Vector w = objective.start();
  train(objective, optimizer, w, stopped);
  const auto checkpoint = checkpoint_from_arrays<double>(saved, "checkpoint");
  options.checkpoints.resume = &checkpoint;
  train(objective, optimizer, w, options);
  const bool same = w == teleported;
  std::cout << "stopped after " << checkpoint.step
            << " steps and resumed: " << (same ? "the same point" : "ANOTHER POINT") << '\n';
  return same && with.final_loss < 1e-10 && without.final_loss < 1e-10 ? EXIT_SUCCESS
                                                                       : EXIT_FAILURE;
}
