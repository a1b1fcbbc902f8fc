// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "symport/training/evaluate.hpp"
#include "symport/training/train_minibatch.hpp"
#include "training/bound_batch.hpp"
#include "training/training_run.hpp"

namespace symport {

/// A run of Algorithm 2: the loss of the training data is measured before the first epoch and after
/// every one.
template <Real Scalar>
class MinibatchRun final : public TrainingRun<Scalar> {
 public:
  using TrainingRun<Scalar>::at;

  /// Everything must outlive the run. Throws InvalidArgument when the size of w is not the
  /// objective's dimension, a sample of the split is not in the source, or an option is out of
  /// range.
  MinibatchRun(const BatchObjective<Scalar>& objective, const BatchSource<Scalar>& source,
               const Split& split, const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
               const MinibatchOptions<Scalar>& options)
      : TrainingRun<Scalar>(optimizer, checked(objective, source, split, optimizer, w, options),
                            {.unit = options.evaluate_every > 0 ? RowUnit::step : RowUnit::epoch,
                             .seed = options.seed,
                             .watcher = options.watcher,
                             .checkpoints = options.checkpoints,
                             .rate = options.learning_rate,
                             .rehearsal = planned(options.teleport, optimizer),
                             .minibatches = true,
                             .clock = options.clock}),
        objective_(objective),
        source_(source),
        split_(split),
        optimizer_(optimizer),
        w_(w),
        options_(options),
        batches_(split.training, options.batch_size, options.seed),
        monitored_(monitoring_set(split, options.scope_samples)),
        step_batch_(objective),
        teleport_batch_(objective) {
    this->require_same_loss();
    if (!this->resumed()) this->clock_.pause([&] { add_row(measured(TraceRow::unknown)); });
    end_if_done();
  }

  const Batches& batches() const { return batches_; }
  double rate() const { return rate_after(0); }
  /// Whether a mini-batch of this epoch is left.
  bool in_epoch() const { return this->goes_on() && at.batch < batches_.count(); }

  /// The mini-batches that follow in this epoch, as far as a teleport is rehearsed.
  Outlook<Scalar> outlook(const std::vector<Index>& order, std::size_t teleport_samples) {
    const Teleportation<Scalar>& plan = options_.teleport;
    const Index next = plan.schedule.next_after(at.epoch).value_or(options_.epochs);
    const Index left = batches_.count() - at.batch;
    Outlook<Scalar> ahead{
        .steps = std::min(this->rehearsal(), left),
        .horizon = (std::min(next, options_.epochs) - at.epoch - 1) * batches_.count() + left,
        .noisy = true,
        .objective = [this, &order](Index i) -> const BasicObjective<Scalar>& {
          require_going_on(options_.teleport.keep_going);
          step_batch_.bind(source_, batches_.batch(order, at.batch + i));
          return *step_batch_.objective;
        },
        .rate = [this](Index i) { return rate_after(i); },
        .gradient_cost =
            static_cast<double>(options_.batch_size) / static_cast<double>(teleport_samples)};
    if (monitored_.empty()) return ahead;
    ahead.monitor = [this](In<Scalar> w) {
      const auto loss = [&] {
        return evaluate<Scalar>(objective_, source_, monitored_, w, false).loss;
      };
      // Where nothing depends on it, it is no part of training.
      if (this->rehearsal() > 0) return loss();
      double found = 0.0;
      this->clock_.pause([&] { found = loss(); });
      return found;
    };
    ahead.monitored = static_cast<Index>(monitored_.size());
    ahead.monitor_cost =
        0.5 * static_cast<double>(monitored_.size()) / static_cast<double>(options_.batch_size);
    return ahead;
  }

  /// w <- g.w on these samples; `attempt(objective)` does that or refuses, and returns the
  /// certificate.
  template <class Attempt>
  void teleport(std::span<const Index> samples, const Attempt& attempt) {
    TrainingRun<Scalar>::teleport([&] {
      teleport_batch_.bind(source_, samples);
      Certificate certificate = attempt(*teleport_batch_.objective);
      // In gradients of a mini-batch.
      certificate.evaluations *=
          static_cast<double>(samples.size()) / static_cast<double>(options_.batch_size);
      Scope& scope = certificate.scope;
      if (scope.data != Scope::Data::all) scope.of = static_cast<Index>(split_.training.size());
      return certificate;
    });
  }

  /// Whether to teleport before this update: it is `scheduled`, or an automatic K tries one.
  bool is_due(bool scheduled, const Schedule& K) const {
    if (!this->teleports()) return false;
    return scheduled || (K.automatic() && this->probe_is_due(options_.epochs * batches_.count()));
  }
  /// The plan as it is now: an automatic schedule asks a teleport to pay for itself.
  Teleportation<Scalar> now(const Teleportation<Scalar>& plan) const {
    Teleportation<Scalar> current = plan;
    if (plan.schedule.automatic()) current.pays_for = this->probe_cost_in_steps();
    return current;
  }

  /// w <- w - u(gradient of L(X_i, w)), X_i these samples
  void update(std::span<const Index> samples) {
    if (options_.watcher) {
      TraceRow row = this->row();
      row.loss = batch_loss_;
      row.grad_sq = TraceRow::unknown;
      row.learning_rate = rate();
      this->watch(row);
    }
    step_batch_.bind(source_, samples);
    do {
      double evaluations = 0.0;
      batch_loss_ =
          optimizer_.minibatch_step(*step_batch_.objective, rate(), at.optimizer, w_, &evaluations);
      at.evaluations += evaluations;
    } while (this->rolls_back(batch_loss_));
    at.epoch_loss += batch_loss_;
    ++at.step;
    ++at.batch;
    if (!std::isfinite(batch_loss_)) {
      diverge();
    } else if (at.batch < batches_.count()) {  // else `finish_epoch` comes next
      if (options_.evaluate_every > 0 && at.step % options_.evaluate_every == 0) {
        const double running = at.epoch_loss / static_cast<double>(at.batch);
        this->clock_.pause([&] { add_row(measured(running)); });
        if (low_enough()) {
          this->save();
          end_if_done();
          return;
        }
      }
      const Index every = options_.checkpoints.every;
      if (this->stopping() || (every > 0 && at.batch % every == 0)) this->save();
      if (this->stopping()) this->end(RunStatus::interrupted);
    }
  }

  /// Measures the epoch that was completed, if it was.
  void finish_epoch() {
    if (!this->goes_on()) return;
    const double running = at.epoch_loss / static_cast<double>(batches_.count());
    ++at.epoch;
    at.batch = 0;
    at.epoch_loss = 0.0;
    TraceRow row;
    this->clock_.pause([&] {
      row = measured(running);
      if (!std::isfinite(row.loss) && this->rolls_back(row.loss)) row = measured(running);
      add_row(row);
    });
    if (!std::isfinite(row.loss)) {
      this->end(RunStatus::diverged);
      return;
    }
    if (!split_.validation.empty()) {
      const bool progress = row.valid_loss < at.best_valid_loss;
      at.epochs_without_progress = progress ? 0 : at.epochs_without_progress + 1;
      at.best_valid_loss = std::min(at.best_valid_loss, row.valid_loss);
    }
    this->save();
    end_if_done();
    if (this->goes_on() && this->stopping()) this->end(RunStatus::interrupted);
  }

  RunSummary summary() {
    TraceRow last;
    last.loss = last.grad_sq = TraceRow::unknown;
    if (!at.trace.rows.empty()) last = at.trace.rows.back();
    return TrainingRun<Scalar>::summary(last.loss, last.grad_sq);
  }

 private:
  static constexpr double far_above = 1000.0;  ///< where a run that ends has diverged

  static Index planned(const Teleportation<Scalar>& plan, const BasicOptimizer<Scalar>& optimizer) {
    return plan.schedule.empty() ? 0 : rehearsal_of(plan, optimizer, true);
  }
  /// After i more mini-batches.
  double rate_after(Index i) const {
    const double part = static_cast<double>(at.batch + i) / static_cast<double>(batches_.count());
    return options_.learning_rate.at(static_cast<double>(at.epoch) + part);
  }

  static void require_at_least(Index least, const char* field, Index value) {
    if (value < least) {
      throw InvalidArgument(field, fmt::format("{}", value),
                            fmt::format("a whole number >= {}", least));
    }
  }

  /// Both parts have samples of the source only.
  static void require_samples(const Split& split, Index there) {
    for (const std::vector<Index>* part : {&split.training, &split.validation}) {
      for (const Index sample : *part) {
        if (sample >= 0 && sample < there) continue;
        throw InvalidArgument("split", fmt::format("sample {}", sample),
                              fmt::format("0 to {}, the samples of the source", there - 1));
      }
    }
  }

  static VectorOf<Scalar>& checked(const BatchObjective<Scalar>& objective,
                                   const BatchSource<Scalar>& source, const Split& split,
                                   const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                                   const MinibatchOptions<Scalar>& options) {
    require_at_least(0, "epochs", options.epochs);
    require_at_least(1, "batch_size", options.batch_size);
    require_at_least(1, "teleport_batches", options.teleport_batches);
    require_at_least(0, "teleport_batch_size", options.teleport_batch_size);
    require_at_least(0, "scope_samples", options.scope_samples);
    require_at_least(0, "patience", options.patience);
    require_at_least(0, "evaluate_every", options.evaluate_every);
    require_samples(split, source.samples());
    if (std::isnan(options.stop_below)) {
      throw InvalidArgument("stop_below", "NaN", "a number");
    }
    if (w.size() != objective.dimension()) {
      throw InvalidArgument("start", fmt::format("{} numbers", w.size()),
                            fmt::format("{} numbers", objective.dimension()));
    }
    if (optimizer.automatic_rate()) {
      throw InvalidArgument("optimizer", "an automatic learning rate with mini-batches",
                            "a given learning rate, or full batches (train)");
    }
    if (const Checkpoint<Scalar>* from = options.checkpoints.resume) {
      const Index count = Batches(split.training, options.batch_size, options.seed).count();
      if (from->batch >= count) {
        throw InvalidArgument("checkpoint", fmt::format("mini-batch {}", from->batch),
                              fmt::format("a mini-batch below {}, with the batch size of the run "
                                          "that wrote it",
                                          count));
      }
    }
    return w;
  }

  static std::vector<Index> monitoring_set(const Split& split, Index samples) {
    if (!split.validation.empty()) {
      const auto count =
          std::min<std::size_t>(split.validation.size(), static_cast<std::size_t>(samples));
      return {split.validation.begin(),
              split.validation.begin() + static_cast<std::ptrdiff_t>(count)};
    }
    const std::size_t there = split.training.size();
    const auto count = std::min<std::size_t>(there, static_cast<std::size_t>(samples));
    std::vector<Index> chosen(count);
    for (std::size_t i = 0; i < count; ++i) chosen[i] = split.training[i * there / count];
    return chosen;
  }

  bool out_of_patience() const {
    return options_.patience > 0 && at.epochs_without_progress >= options_.patience;
  }

  /// After `save`, so that a checkpoint with which the run goes on for longer does not know of it.
  void end_if_done() {
    if (out_of_patience() || low_enough()) {
      this->end(RunStatus::converged);
    } else if (at.epoch >= options_.epochs) {
      this->end(RunStatus::step_limit);
    }
    if (this->goes_on() || at.trace.rows.empty()) return;
    TraceRow& last = at.trace.rows.back();
    if (this->ends_lower(last.loss)) {
      this->clock_.pause([&] {
        last = measured(last.loss);
        if (!at.trace.points.empty()) at.trace.points.back() = w_.template cast<double>();
        if (options_.on_row) options_.on_row(last);
      });
    }
    const double first = at.trace.rows.front().loss;
    if (first > 0.0 && last.loss > far_above * first) this->end(RunStatus::diverged);
  }

  /// That of the mini-batch which comes next.
  double loss_to_compare() override {
    const std::vector<Index> order = batches_.order(at.epoch);
    const std::span<const Index> next = batches_.batch(order, at.batch);
    return evaluate<Scalar>(objective_, source_, {next.begin(), next.end()}, w_, false).loss;
  }

  /// Whether the last row has a training loss below the one to stop at.
  bool low_enough() const {
    return !at.trace.rows.empty() && at.trace.rows.back().loss < options_.stop_below;
  }

  /// The row of this moment, with the figures of training and validation data.
  TraceRow measured(double running_loss) const {
    TraceRow row = this->row();
    row.learning_rate = rate();
    row.loss = running_loss;
    row.grad_sq = TraceRow::unknown;
    if (options_.exact_training_loss) {
      const auto training =
          evaluate<Scalar>(objective_, source_, split_.training, w_, options_.exact_gradients);
      row.loss = training.loss;
      row.grad_sq = training.grad_sq;
    }
    const auto validation = evaluate<Scalar>(objective_, source_, split_.validation, w_, false);
    row.valid_loss = validation.loss;
    row.valid_accuracy = validation.accuracy;
    return row;
  }

  void add_row(const TraceRow& row) {
    this->record(row);
    if (options_.on_row) options_.on_row(row);
  }

  /// The last row is that of the epoch which is not finished.
  void diverge() {
    TraceRow row = this->row();
    ++row.epoch;
    row.loss = batch_loss_;
    row.grad_sq = TraceRow::unknown;
    row.learning_rate = rate();
    add_row(row);
    this->end(RunStatus::diverged);
  }

  const BatchObjective<Scalar>& objective_;
  const BatchSource<Scalar>& source_;
  const Split& split_;
  const BasicOptimizer<Scalar>& optimizer_;
  VectorOf<Scalar>& w_;
  const MinibatchOptions<Scalar>& options_;
  const Batches batches_;
  const std::vector<Index> monitored_;  ///< by teleports that are bound to a batch
  BoundBatch<Scalar> step_batch_, teleport_batch_;
  double batch_loss_ = TraceRow::unknown;  ///< of the last update
};

}  // namespace symport
