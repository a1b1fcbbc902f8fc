// SPDX-License-Identifier: MIT
#include "symport/training/train_minibatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "symport/core/status.hpp"

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
  MlpObjective<Scalar> objective;
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;

  void bind(const BatchSource<Scalar>& source, std::span<const Index> samples) {
    source.load(samples, X, targets);
    objective.bind(X, targets);
  }
};

/// Runs while training runs; evaluation stands beside it.
class Stopwatch {
 public:
  void start() { began_ = std::chrono::steady_clock::now(); }
  void stop() { total_ += since_start(); }
  double seconds() const { return total_; }

 private:
  double since_start() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  std::chrono::steady_clock::time_point began_;
  double total_ = 0.0;
};

}  // namespace

template <Real Scalar>
Evaluation evaluate(const MlpObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                    const std::vector<Index>& samples, In<Scalar> w, bool with_gradient,
                    Index chunk) {
  require_at_least(1, "chunk", chunk);
  if (samples.empty()) return {nan, nan, nan};
  BoundBatch<Scalar> batch{MlpObjective<Scalar>(objective.network(), objective.loss()), {}, {}};
  const bool categorical = objective.loss().categorical();
  const bool mean = objective.loss().reduction() == Loss::Reduction::mean;
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
    if (with_gradient) {
      loss += weight * batch.objective.gradient(w, gradient);
      sum += weight * gradient.template cast<double>();
    } else {
      loss += weight * batch.objective.value(w);
    }
    if (categorical) hits += static_cast<double>(part.size()) * batch.objective.accuracy(w);
  }
  return {loss, categorical ? hits / total : nan, with_gradient ? sum.squaredNorm() : nan};
}

template <Real Scalar>
MinibatchSummary train_minibatch(const MlpObjective<Scalar>& objective,
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
  BoundBatch<Scalar> step_batch{
      MlpObjective<Scalar>(objective.network(), objective.loss()), {}, {}};
  BoundBatch<Scalar> teleport_batch = step_batch;
  OptimizerState<Scalar> state = optimizer.init(w.size());
  VectorOf<Scalar> gradient;
  if (!optimizer.plain_gradient_step()) gradient.resize(w.size());
  Random random(options.seed);
  Stopwatch watch;
  MinibatchSummary run;
  double best_valid_loss = std::numeric_limits<double>::infinity();
  Index epochs_without_progress = 0;

  const auto teleport_on = [&](const std::vector<Index>& order, Index i, Index epoch, double rate) {
    teleport_batch.bind(source, batches.batch(order, i, options.teleport_batch_size));
    Certificate certificate = teleport_in_training<Scalar>(teleport_batch.objective, optimizer,
                                                           rate, plan, random, state, w);
    certificate.step = epoch;
    // In gradients of a mini-batch.
    certificate.evaluations *= static_cast<double>(teleport_batch.objective.samples()) /
                               static_cast<double>(options.batch_size);
    run.evaluations += certificate.evaluations;
    run.teleports.push_back(std::move(certificate));
  };

  for (Index t = 0; t < options.epochs; ++t) {
    const double rate = options.learning_rate.at(t);
    const bool teleports = plan.schedule.contains(t);
    const std::vector<Index> order = batches.order(t);
    double batch_loss = nan;
    watch.start();
    for (Index i = 0; i < batches.count(); ++i) {
      if (options.watcher &&
          !options.watcher({t, options.epochs, i, batches.count(), batch_loss})) {
        run.status = RunStatus::interrupted;
        break;
      }
      if (teleports && i < options.teleport_batches) teleport_on(order, i, t, rate);
      step_batch.bind(source, batches.batch(order, i));
      if (optimizer.plain_gradient_step()) {
        batch_loss = step_batch.objective.sgd_step(w, rate);
      } else {
        batch_loss = step_batch.objective.gradient(w, gradient);
        optimizer.step(step_batch.objective, batch_loss, gradient, rate, state, w);
      }
      ++run.steps;
      run.evaluations += 1.0;
      if (!std::isfinite(batch_loss)) {
        run.status = RunStatus::diverged;
        break;
      }
    }
    watch.stop();
    run.seconds = watch.seconds();
    if (run.status != RunStatus::step_limit) break;

    const auto training = evaluate<Scalar>(objective, source, split.training, w, true);
    const auto validation = evaluate<Scalar>(objective, source, split.validation, w, false);
    run.epochs = t + 1;
    run.rows.push_back({t, training.loss, validation.loss, validation.accuracy, training.grad_sq,
                        rate, run.evaluations, watch.seconds()});
    if (options.on_epoch) options.on_epoch(run.rows.back());
    if (!std::isfinite(training.loss)) {
      run.status = RunStatus::diverged;
      break;
    }
    if (options.patience > 0 && !split.validation.empty()) {
      epochs_without_progress = validation.loss < best_valid_loss ? 0 : epochs_without_progress + 1;
      best_valid_loss = std::min(best_valid_loss, validation.loss);
      if (epochs_without_progress >= options.patience) {
        run.status = RunStatus::converged;
        break;
      }
    }
  }
  return run;
}

template Evaluation evaluate(const MlpObjective<float>&, const BatchSource<float>&,
                             const std::vector<Index>&, In<float>, bool, Index);
template Evaluation evaluate(const MlpObjective<double>&, const BatchSource<double>&,
                             const std::vector<Index>&, In<double>, bool, Index);
template MinibatchSummary train_minibatch(const MlpObjective<float>&, const BatchSource<float>&,
                                          const Split&, const BasicOptimizer<float>&,
                                          VectorOf<float>&, const MinibatchOptions<float>&);
template MinibatchSummary train_minibatch(const MlpObjective<double>&, const BatchSource<double>&,
                                          const Split&, const BasicOptimizer<double>&,
                                          VectorOf<double>&, const MinibatchOptions<double>&);

}  // namespace symport
