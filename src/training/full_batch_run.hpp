// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "symport/optimizers/objective_bound.hpp"
#include "symport/training/train.hpp"
#include "training/training_run.hpp"

namespace symport {

/// A run of Algorithm 1 or 3: loss and gradient are known before every update.
template <Real Scalar>
class FullBatchRun final : public TrainingRun<Scalar> {
 public:
  using TrainingRun<Scalar>::at;
  using TrainingRun<Scalar>::prepare_probes;

  /// Everything must outlive the run. Throws InvalidArgument when the size of w is not the
  /// objective's dimension, the optimizer cannot work on it, or an option is out of range.
  FullBatchRun(const BasicObjective<Scalar>& objective, const BasicOptimizer<Scalar>& optimizer,
               VectorOf<Scalar>& w, const TrainOptions<Scalar>& options)
      : TrainingRun<Scalar>(optimizer, checked(objective, w, options),
                            {.unit = RowUnit::step,
                             .seed = options.seed,
                             .trace = options.trace,
                             .watcher = options.watcher,
                             .checkpoints = options.checkpoints,
                             .rate = options.learning_rate,
                             .rehearsal = planned(options.teleport, optimizer),
                             .clock = options.clock}),
        objective_(objective),
        optimizer_(optimizer),
        options_(options),
        observed_(options.trace || options.watcher),
        w_out_(w),
        w_in_(w) {
    require_fit(optimizer, objective);
    measure();
    this->require_same_loss();
    if (!this->resumed()) at.evaluations = 1.0;
    rate_ = options.learning_rate.at(at.step);
    if (options.trace) {
      // On small problems a trace that grows costs as much as the updates.
      const auto rows = static_cast<std::size_t>(std::min<Index>(options.max_steps, 4096)) + 1;
      at.trace.rows.reserve(rows);
      if (w.size() <= Trace::max_point_dimension) at.trace.points.reserve(rows);
    }
  }

  double rate() const { return rate_; }  ///< of the update that comes next
  /// Whether to teleport now: t is in K, and an update will follow.
  bool is_due(const Schedule& K) const {
    if (at.step >= options_.max_steps || this->stopping() || !this->teleports()) return false;
    if (!K.automatic()) return K.contains(at.step);
    return this->probe_is_due(options_.max_steps) && leaves_something();
  }
  /// The plan as it is now: an automatic schedule asks a teleport to pay for itself.
  Teleportation<Scalar> now(const Teleportation<Scalar>& plan) const {
    Teleportation<Scalar> current = plan;
    if (plan.schedule.automatic()) current.pays_for = this->probe_cost_in_steps();
    return current;
  }

  /// The steps that follow, as far as a teleport is rehearsed.
  Outlook<Scalar> outlook() {
    const Teleportation<Scalar>& plan = options_.teleport;
    const std::optional<Index> next = plan.schedule.next_after(at.step);
    const bool again = next && *next < options_.max_steps;
    const Index until = again ? *next : options_.max_steps;
    // What an optimizer remembers for long shows later than the next teleport.
    const bool remembers = !optimizer_.forgets();
    const Index shown = (remembers ? options_.max_steps : until) - at.step;
    Outlook<Scalar> ahead{
        .steps = std::min(this->rehearsal(), shown),
        .most = remembers ? std::min(longest_rehearsal * this->rehearsal(), shown) : 0,
        .horizon = until - at.step,
        .objective = [this](Index) -> const BasicObjective<Scalar>& {
          require_going_on(options_.teleport.keep_going);
          return objective_;
        },
        .rate = [this](Index i) { return options_.learning_rate.at(at.step + i); }};
    if (options_.validate) {
      const auto figures = [this](In<Scalar> w) {
        Validation found;
        this->clock_.pause([&] { found = options_.validate(w); });
        return found;
      };
      if (validated_ == 0) validated_ = figures(w_in_).samples;
      ahead.monitor = [figures](In<Scalar> w) { return figures(w).loss; };
      ahead.monitored = validated_;
    }
    return ahead;
  }

  /// w <- g.w; `attempt()` does that or refuses, and returns the certificate.
  template <class Attempt>
  void teleport(const Attempt& attempt) {
    if (TrainingRun<Scalar>::teleport(attempt)) measure_again();
  }

  /// Records the state before the update; false when the run ends with it.
  bool observe() {
    if (!finite()) {
      this->end(RunStatus::diverged);
    } else if (done()) {
      this->end(RunStatus::converged);
    } else if (at.step >= options_.max_steps) {
      this->end(RunStatus::step_limit);
    }
    if (!this->goes_on() && finite() && this->ends_lower(here_.loss)) measure_again();
    const bool stopped = this->stopping();  // at the update before
    if (observed_) make_row();
    if (this->goes_on() && stopped) this->end(RunStatus::interrupted);
    return this->goes_on();
  }

  /// w <- w - u(dL/dw)
  void update() {
    const double loss = here_.loss;
    const StepOutcome outcome = optimizer_.step(objective_, here_, rate_, at.optimizer, w_out_);
    if (options_.trace && optimizer_.automatic_rate()) {
      at.trace.rows.back().learning_rate = outcome.rate;
    }
    if (!outcome.moved) {  // nothing left to gain at this precision
      this->end(RunStatus::converged);
      return;
    }
    at.previous_loss = loss;
    if (!outcome.measured) measure();
    at.evaluations += 1.0 + outcome.evaluations;
    rate_ = options_.learning_rate.at(++at.step);
    if (this->rolls_back(finite() ? here_.loss : std::numeric_limits<double>::infinity())) {
      at.previous_loss = std::numeric_limits<double>::infinity();
      measure_again();
    }
    const Index every = options_.checkpoints.every;
    const bool due = every > 0 && at.step % every == 0;
    if (due || this->stopping() || at.step >= options_.max_steps) {
      if (std::isfinite(here_.loss)) this->save();
    }
  }

  RunSummary summary() { return TrainingRun<Scalar>::summary(here_.loss, grad_sq()); }

 private:
  static Index planned(const Teleportation<Scalar>& plan, const BasicOptimizer<Scalar>& optimizer) {
    return plan.schedule.empty() ? 0 : rehearsal_of(plan, optimizer);
  }
  static VectorOf<Scalar>& checked(const BasicObjective<Scalar>& objective, VectorOf<Scalar>& w,
                                   const TrainOptions<Scalar>& options) {
    if (w.size() != objective.dimension()) {
      throw InvalidArgument("start", fmt::format("{} numbers", w.size()),
                            fmt::format("{} numbers", objective.dimension()));
    }
    if (options.max_steps < 0) {
      throw InvalidArgument("max_steps", fmt::format("{}", options.max_steps),
                            "a whole number >= 0");
    }
    return w;
  }

  double grad_sq() const { return static_cast<double>(here_.gradient.squaredNorm()); }
  bool finite() const { return std::isfinite(here_.loss) && std::isfinite(grad_sq()); }
  bool done() const {
    return options_.stop(at.step, here_.loss, at.previous_loss, grad_sq()) ||
           (here_.gradient.array() == Scalar(0)).all();
  }
  double loss_to_compare() override { return here_.loss; }

  /// Whether the plain steps that a probe costs would leave half of the loss, judging by the last:
  /// else no teleport can pay for itself by (D13).
  bool leaves_something() const {
    const double part = 1.0 - here_.loss / at.previous_loss;
    if (!(part > 0.0 && part < 1.0)) return true;
    return std::pow(1.0 - part, this->probe_cost_in_steps()) > 0.5;
  }

  void measure() { optimizer_.measure(objective_, w_in_, here_); }
  void measure_again() {
    measure();
    at.evaluations += 1.0;
  }
  void make_row() {
    TraceRow row = this->row();
    row.loss = here_.loss;
    row.grad_sq = grad_sq();
    row.learning_rate = rate_;
    if (options_.validate) {
      this->clock_.pause([&] {
        const Validation figures = options_.validate(w_in_);
        row.valid_loss = figures.loss;
        row.valid_accuracy = figures.accuracy;
        validated_ = figures.samples;
      });
    }
    this->record(row);
    if (this->goes_on() || done()) this->watch(row);
  }

  const BasicObjective<Scalar>& objective_;
  const BasicOptimizer<Scalar>& optimizer_;
  const TrainOptions<Scalar>& options_;
  const bool observed_;
  double rate_ = 0.0;
  Index validated_ = 0;         ///< held-out samples
  MeasuredPoint<Scalar> here_;  ///< at w
  // Made once: on small problems an update costs no more than making these.
  const Out<Scalar> w_out_;
  const Eigen::Ref<const VectorOf<Scalar>> w_in_;
};

}  // namespace symport
