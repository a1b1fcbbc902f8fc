// SPDX-License-Identifier: MIT
#include "symport/training/train_minibatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "symport/core/invalid_argument.hpp"
#include "training/resumable.hpp"

namespace symport {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void require_at_least(Index least, const char* field, Index value) {
  if (value < least) {
    throw InvalidArgument(field, fmt::format("{}", value),
                          fmt::format("a whole number >= {}", least));
  }
}

/// An objective with the buffers through which batches reach it.
template <Real Scalar>
struct BoundBatch {
  explicit BoundBatch(const BatchObjective<Scalar>& of) : objective(of.clone()) {}

  std::unique_ptr<BatchObjective<Scalar>> objective;
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;

  void bind(const BatchSource<Scalar>& source, std::span<const Index> samples) {
    source.load(samples, X, targets);
    objective->bind(X, targets);
  }
};

/// Runs while training runs; evaluation stands beside it.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Stopwatch(double seconds_before) : total_(seconds_before) {}
  void start() { began_ = Clock::now(); }
  void stop() { total_ = seconds(), began_.reset(); }
  double seconds() const {
    return began_ ? total_ + std::chrono::duration<double>(Clock::now() - *began_).count() : total_;
  }

 private:
  std::optional<Clock::time_point> began_;
  double total_;
};

}  // namespace

template <Real Scalar>
Evaluation evaluate(const BatchObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                    const std::vector<Index>& samples, In<Scalar> w, bool with_gradient,
                    Index chunk) {
  require_at_least(1, "chunk", chunk);
  if (samples.empty()) return {nan, nan, nan};
  BoundBatch<Scalar> batch(objective);
  const bool mean = objective.reduction() == Loss::Reduction::mean;
  const auto total = static_cast<double>(samples.size());
  double loss = 0.0, hits = 0.0;
  VectorOf<Scalar> gradient;
  Vector sum;
  if (with_gradient) {
    gradient.resize(w.size());
    sum.setZero(w.size());
  }
  const std::span<const Index> all(samples);
  for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(chunk)) {
    const auto part =
        all.subspan(first, std::min(all.size() - first, static_cast<std::size_t>(chunk)));
    batch.bind(source, part);
    const double weight = mean ? static_cast<double>(part.size()) / total : 1.0;
    const Score score =
        with_gradient ? batch.objective->score(w, gradient) : batch.objective->score(w);
    loss += weight * score.loss;
    hits += static_cast<double>(part.size()) * score.accuracy;
    if (with_gradient) sum += weight * gradient.template cast<double>();
  }
  return {loss, hits / total, with_gradient ? sum.squaredNorm() : nan};
}

template <Real Scalar>
double minibatch_step(const BatchObjective<Scalar>& objective,
                      const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                      OptimizerState<Scalar>& state, VectorOf<Scalar>& w) {
  if (optimizer.plain_gradient_step()) return objective.gradient_step(w, learning_rate);
  const auto* separable = dynamic_cast<const FirstOrderOptimizer<Scalar>*>(&optimizer);
  if (separable != nullptr) {
    const double loss = objective.gradient_ranges(w, [&](Index first, In<Scalar> range) {
      separable->step_range(first, range, learning_rate, state, w);
    });
    ++state.count;
    return loss;
  }
  VectorOf<Scalar> gradient(w.size());
  const double loss = objective.gradient(w, gradient);
  optimizer.step(objective, loss, gradient, learning_rate, state, w);
  return loss;
}

template <Real Scalar>
MinibatchSummary train_minibatch(const BatchObjective<Scalar>& objective,
                                 const BatchSource<Scalar>& source, const Split& split,
                                 const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                                 const MinibatchOptions<Scalar>& options) {
  require_at_least(0, "epochs", options.epochs);
  require_at_least(1, "batch_size", options.batch_size);
  require_at_least(1, "teleport_batches", options.teleport_batches);
  require_at_least(0, "teleport_batch_size", options.teleport_batch_size);
  require_at_least(0, "patience", options.patience);
  if (w.size() != objective.dimension()) {
    throw InvalidArgument("start", fmt::format("{} numbers", w.size()),
                          fmt::format("{} numbers", objective.dimension()));
  }
  const Teleportation<Scalar>& plan = options.teleport;
  if (!plan.symmetry && !plan.schedule.empty()) {
    throw InvalidArgument("teleport.symmetry", "none with a schedule", "a symmetry of networks");
  }
  if (optimizer.automatic_rate()) {
    throw InvalidArgument("optimizer", "an automatic learning rate with mini-batches",
                          "a given learning rate, or full batches (train)");
  }

  const Batches batches(split.training, options.batch_size, options.seed);
  BoundBatch<Scalar> step_batch(objective), teleport_batch(objective);

  // `at` is the whole state of the run; what is not in it does not outlive a step.
  Checkpoint<Scalar> at;
  at.optimizer = optimizer.init(w.size());
  Random random(options.seed);
  if (const Checkpoint<Scalar>* from = options.checkpoints.resume) {
    require_resumable(*from, w.size(), at.optimizer);
    if (from->step >= batches.count()) {
      throw InvalidArgument("checkpoint", fmt::format("step {}", from->step),
                            fmt::format("a step below {}", batches.count()));
    }
    at = *from;
    w = from->w;
    random = Random(from->random);
  }
  Stopwatch watch(at.seconds);
  const auto out_of_patience = [&] {
    return options.patience > 0 && at.epochs_without_progress >= options.patience;
  };
  RunStatus status = out_of_patience() ? RunStatus::converged : RunStatus::step_limit;

  const auto save = [&] {
    if (!options.checkpoints.save) return;
    at.w = w;
    at.random = random.state();
    at.seconds = watch.seconds();
    options.checkpoints.save(at);
  };

  const auto teleport_on = [&](const std::vector<Index>& order, Index i, Index epoch, double rate) {
    teleport_batch.bind(source, batches.batch(order, i, options.teleport_batch_size));
    Certificate certificate = teleport_in_training<Scalar>(*teleport_batch.objective, optimizer,
                                                           rate, plan, random, at.optimizer, w);
    certificate.step = epoch;
    // In gradients of a mini-batch.
    certificate.evaluations *= static_cast<double>(teleport_batch.objective->samples()) /
                               static_cast<double>(options.batch_size);
    at.evaluations += certificate.evaluations;
    at.teleports.push_back(std::move(certificate));
  };

  const auto step_on = [&](std::span<const Index> samples, double rate) {
    step_batch.bind(source, samples);
    at.evaluations += 1.0;
    ++at.updates;
    return minibatch_step<Scalar>(*step_batch.objective, optimizer, rate, at.optimizer, w);
  };

  const auto measure = [&](Index epoch, double rate) {
    const auto validation = evaluate<Scalar>(objective, source, split.validation, w, false);
    Evaluation training{at.epoch_loss / static_cast<double>(batches.count()), nan, nan};
    if (options.exact_training_loss) {
      training = evaluate<Scalar>(objective, source, split.training, w, true);
    }
    at.epochs.push_back({epoch, training.loss, validation.loss, validation.accuracy,
                         training.grad_sq, rate, at.evaluations, watch.seconds()});
    if (options.on_epoch) options.on_epoch(at.epochs.back());
    if (split.validation.empty()) return;
    const bool progress = validation.loss < at.best_valid_loss;
    at.epochs_without_progress = progress ? 0 : at.epochs_without_progress + 1;
    at.best_valid_loss = std::min(at.best_valid_loss, validation.loss);
  };

  double batch_loss = nan;
  const auto run_epoch = [&](Index t, double rate) {
    const bool teleports = plan.schedule.contains(t);
    const std::vector<Index> order = batches.order(t);
    const Index every = options.checkpoints.every;
    for (Index i = at.step; i < batches.count(); ++i) {
      at.step = i;
      if (every > 0 && i > 0 && i % every == 0) save();
      if (options.watcher && !options.watcher({t, options.epochs, i, batches.count(), batch_loss,
                                               at.evaluations, watch.seconds()})) {
        save();
        return RunStatus::interrupted;
      }
      if (teleports && i < options.teleport_batches) teleport_on(order, i, t, rate);
      batch_loss = step_on(batches.batch(order, i), rate);
      at.epoch_loss += batch_loss;
      if (!std::isfinite(batch_loss)) return RunStatus::diverged;
    }
    return RunStatus::step_limit;
  };

  while (at.epoch < options.epochs && status == RunStatus::step_limit) {
    const Index t = at.epoch;
    const double rate = options.learning_rate.at(t);
    watch.start();
    status = run_epoch(t, rate);
    watch.stop();
    if (status != RunStatus::step_limit) break;
    measure(t, rate);
    if (!std::isfinite(at.epochs.back().train_loss)) {
      status = RunStatus::diverged;
      break;
    }
    if (out_of_patience()) status = RunStatus::converged;
    at.epoch = t + 1;
    at.step = 0;
    at.epoch_loss = 0.0;
    save();
  }
  return {.status = status,
          .epochs = at.epoch,
          .steps = at.updates,
          .evaluations = at.evaluations,
          .seconds = watch.seconds(),
          .rows = std::move(at.epochs),
          .teleports = std::move(at.teleports)};
}

template Evaluation evaluate(const BatchObjective<float>&, const BatchSource<float>&,
                             const std::vector<Index>&, In<float>, bool, Index);
template Evaluation evaluate(const BatchObjective<double>&, const BatchSource<double>&,
                             const std::vector<Index>&, In<double>, bool, Index);
template double minibatch_step(const BatchObjective<float>&, const BasicOptimizer<float>&, double,
                               OptimizerState<float>&, VectorOf<float>&);
template double minibatch_step(const BatchObjective<double>&, const BasicOptimizer<double>&, double,
                               OptimizerState<double>&, VectorOf<double>&);
template MinibatchSummary train_minibatch(const BatchObjective<float>&, const BatchSource<float>&,
                                          const Split&, const BasicOptimizer<float>&,
                                          VectorOf<float>&, const MinibatchOptions<float>&);
template MinibatchSummary train_minibatch(const BatchObjective<double>&, const BatchSource<double>&,
                                          const Split&, const BasicOptimizer<double>&,
                                          VectorOf<double>&, const MinibatchOptions<double>&);

}  // namespace symport
