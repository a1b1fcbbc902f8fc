// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/optimizer.hpp"
#include "symport/symmetries/symmetry.hpp"
#include "symport/training/checkpoint.hpp"
#include "symport/training/run_summary.hpp"
#include "symport/training/step_watcher.hpp"
#include "symport/training/teleportation.hpp"
#include "training/training_clock.hpp"

namespace symport {

/// Throws InvalidArgument when the plan has a symmetry without a schedule, or the other way round.
template <Real Scalar>
void require_plan(const Teleportation<Scalar>& plan, const char* symmetry) {
  if (!plan.symmetry && !plan.schedule.empty()) {
    throw InvalidArgument("teleport.symmetry", "none with a schedule", symmetry);
  }
  if (plan.symmetry && plan.schedule.left_out()) {
    throw InvalidArgument("teleport.schedule",
                          "none with a symmetry, so that there would be no teleport",
                          "a schedule, such as .schedule = every(100), or never() for a plain run");
  }
}

/// What Algorithms 1, 2 and 3 have in common: the state of a run, its record, its clock, its
/// checkpoints, and how it ends.
template <Real Scalar>
class TrainingRun {
 public:
  /// The whole state, but for the parameters and the generator, which `save` adds: what is not in
  /// it does not outlive an update. It has the only counters.
  Checkpoint<Scalar> at;
  Random random;  ///< of the searches

  bool goes_on() const { return !end_; }

 protected:
  struct Setting {
    RowUnit unit = RowUnit::step;
    std::uint64_t seed = 0;
    bool trace = true;
    const StepWatcher& watcher;
    const Checkpointing<Scalar>& checkpoints;
    const LearningRate& rate;
    /// Of teleports that are planned; 0: none. With one the run goes back to before a teleport
    /// rather than rise.
    Index rehearsal = 0;
    bool minibatches = false;
    RunClock clock = RunClock::wall;
  };

  /// Throws InvalidArgument when there is a checkpoint to go on from that does not fit; w is then
  /// untouched. `setting` refers to options that outlive the run.
  TrainingRun(const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w, const Setting& setting)
      : random(setting.seed),
        clock_(setting.clock, 0.0),
        w_(w),
        setting_(setting),
        rollback_steps_(rollback_steps(optimizer, setting.minibatches)) {
    at.optimizer = optimizer.init(w.size());
    at.optimizer_name = optimizer.name();
    at.learning_rate = setting.rate.to_string();
    at.trace.unit = setting.unit;
    if (const Checkpoint<Scalar>* from = setting.checkpoints.resume) {
      require_resumable(*from);
      at = *from;
      w = from->w;
      random = Random(from->random);
      clock_ = TrainingClock(setting.clock, at.seconds);
    }
  }

  /// Whether a run with an automatic schedule tries a teleport now: after one that was refused, in
  /// steps 1, 2, 4, ... apart, and never where the refused ones would cost more than a twentieth of
  /// the run, whose `planned_steps` may all be before it. All of it follows from the certificates,
  /// which a checkpoint has.
  bool probe_is_due(Index planned_steps) const {
    if (at.step < 1) return false;  // nothing to compare with
    Index gap = 1;
    double refused = 0.0;
    for (const Certificate& c : at.teleports) {
      gap = c.accepted ? 1 : 2 * gap;
      if (!c.accepted) refused += c.evaluations;
    }
    if (!at.teleports.empty() && at.step < at.teleports.back().step + gap) return false;
    const double run = std::max(at.evaluations, static_cast<double>(planned_steps));
    return refused + probe_cost() <= largest_probing_share * run;
  }
  /// Guesses what the first probe will cost: a white gauge is cheap to look at.
  void prepare_probes(const BasicSymmetry<Scalar>& symmetry) {
    first_probe_cost_ = symmetry.bound_to_batch() ? 30.0 : 100.0;
  }
  /// What the next probe will cost, in steps: what the dearest so far did, or a guess.
  double probe_cost_in_steps() const {
    double spent = 0.0;
    for (const Certificate& c : at.teleports) spent += c.evaluations + (c.accepted ? 1.0 : 0.0);
    const double plain = (at.evaluations - spent) / std::max(1.0, static_cast<double>(at.step));
    return probe_cost() / std::max(1.0, plain);
  }

  bool resumed() const { return setting_.checkpoints.resume != nullptr; }
  bool stopping() const { return stopping_; }  ///< the watcher said so
  bool teleports() const { return at.rollback_points.empty() || lowest().reason.empty(); }
  void end(RunStatus status) { end_ = status; }

  /// Tries a teleport: `attempt()` may move w, and returns the certificate. Says whether it did. An
  /// interrupted one leaves everything as it was, and ends the run.
  template <class Attempt>
  bool teleport(const Attempt& attempt) {
    Vector before = point();
    const Random random_before = random;
    std::optional<RollbackPoint<Scalar>> here;
    if (setting_.rehearsal > 0) {
      here = {static_cast<Index>(at.teleports.size()), 0.0, w_, at.optimizer, {}};
    }
    Certificate certificate;
    try {
      certificate = attempt();
    } catch (const Interrupted&) {
      random = random_before;
      save();
      end(RunStatus::interrupted);
      return false;
    }
    certificate.step = at.step;
    at.evaluations += certificate.evaluations;
    const bool accepted = certificate.accepted;
    if (setting_.trace) {
      const double before_it = certificate.loss_before;
      at.trace.teleports.push_back({at.step, at.epoch, at.batch, accepted, before_it,
                                    accepted ? certificate.loss_after : before_it,
                                    std::move(before), point()});
    }
    at.teleported = at.teleported || accepted;
    if (accepted && here) {
      here->loss = certificate.loss_before;
      if (setting_.minibatches) here->loss = std::fmax(here->loss, at.trace.rows.back().loss);
      remember(std::move(*here));
    }
    at.teleports.push_back(std::move(certificate));
    return accepted;
  }

  /// To be called with the loss after every update, or before it in mini-batches. Whether the
  /// teleports are to blame for it, and the run was put back to before the one that began at the
  /// lowest loss or, where that was done before, to before the first. From then on it makes plain
  /// steps only.
  bool rolls_back(double loss) {
    if (at.rollback_points.empty()) return false;
    const bool finite = std::isfinite(loss);
    at.steps_above = loss <= bound(rollback_multiple) ? 0 : at.steps_above + 1;
    if (finite && at.steps_above < rollback_steps_) return false;
    RollbackPoint<Scalar>& to = teleports() ? lowest() : at.rollback_points.front();
    if (!to.reason.empty()) return false;
    stand_on(to, finite
                     ? fmt::format("taken back at step {}, after {} losses above {} times {:.5g}",
                                   at.step, at.steps_above, rollback_multiple, lowest().loss)
                     : fmt::format("taken back at step {}, where the loss was no longer finite",
                                   at.step));
    return true;
  }

  /// To be called with the loss at which the run would end. Whether that is above the one at which
  /// a teleport began (in mini-batches by the multiple, because of their noise), and the run was
  /// put there instead.
  bool ends_lower(double loss) {
    if (at.rollback_points.empty()) return false;
    if (loss <= bound(setting_.minibatches ? rollback_multiple : 1.0)) return false;
    // Should it have gone back further, the teleports before this one count again.
    if (at.rollback_points.size() == 2) at.rollback_points.front().reason.clear();
    stand_on(lowest(), fmt::format("taken back at the end, where the loss would be {:.5g}", loss));
    return true;
  }

  /// The row of this moment, without what is measured.
  TraceRow row() const {
    TraceRow row;
    row.step = at.step;
    row.epoch = at.epoch;
    row.evaluations = at.evaluations;
    row.seconds = clock_.seconds();
    row.teleported = at.teleported;
    return row;
  }

  void record(const TraceRow& row) {
    at.teleported = false;
    if (!setting_.trace) return;
    if (!keeps_points()) {
      at.trace.record(row, nullptr);
      return;
    }
    point_ = w_.template cast<double>();
    at.trace.record(row, &point_);
  }

  /// To be called before every update and where the run converges. When the watcher says stop, that
  /// update is still made.
  void watch(const TraceRow& row) {
    if (!stopping_ && setting_.watcher) stopping_ = !setting_.watcher(row);
  }

  void save() {
    if (!setting_.checkpoints.save) return;
    at.w = w_;
    at.random = random.state();
    at.seconds = clock_.seconds();
    clock_.pause([&] {
      at.loss = loss_to_compare();
      setting_.checkpoints.save(at);
    });
  }

  /// The loss that tells whether a run which goes on from a checkpoint has the same objective.
  virtual double loss_to_compare() = 0;
  /// Throws InvalidArgument unless the run began with the loss of its checkpoint, if it has one.
  /// The same bytes are not required: another machine may round differently.
  void require_same_loss() {
    if (!resumed()) return;
    double found = 0.0;
    clock_.pause([&] { found = loss_to_compare(); });
    constexpr double eps = std::numeric_limits<Scalar>::epsilon();
    const double first = at.trace.rows.empty() ? 0.0 : std::abs(at.trace.rows.front().loss);
    const double rounding =
        std::sqrt(eps) * std::max(std::abs(found), std::abs(at.loss)) + eps * std::fmax(first, 0.0);
    if (std::abs(found - at.loss) <= rounding || (std::isnan(found) && std::isnan(at.loss))) return;
    throw InvalidArgument(
        "checkpoint", fmt::format("the loss {:.10g} where this run has {:.10g}", at.loss, found),
        "the objective that the run was started with (model, loss, data and, in mini-batches, "
        "batch size and seed)");
  }

  RunSummary summary(double final_loss, double final_grad_sq) {
    RunSummary run;
    run.status = end_.value_or(RunStatus::interrupted);
    run.steps = at.step;
    run.epochs = at.epoch;
    run.final_loss = final_loss;
    run.final_grad_sq = final_grad_sq;
    run.evaluations = at.evaluations;
    run.seconds = clock_.seconds();
    for (auto point = at.rollback_points.rbegin(); point != at.rollback_points.rend(); ++point) {
      if (point->reason.empty()) continue;
      for (auto i = static_cast<std::size_t>(point->teleport); i < at.teleports.size(); ++i) {
        Certificate& certificate = at.teleports[i];
        if (!certificate.accepted) continue;
        certificate.accepted = false;
        certificate.reason = point->reason;
      }
    }
    run.teleports = std::move(at.teleports);
    run.trace = std::move(at.trace);
    return run;
  }

  Index rehearsal() const { return setting_.rehearsal; }

  ~TrainingRun() = default;

  TrainingClock clock_;

 private:
  static constexpr double largest_probing_share = 0.04;  ///< a twentieth, less what a guess may err

  RollbackPoint<Scalar>& lowest() { return at.rollback_points.back(); }
  const RollbackPoint<Scalar>& lowest() const { return at.rollback_points.back(); }

  /// Keeps the first point and the one with the lowest loss. A teleport from higher up replaces
  /// neither, so that a rise in several teleports counts as one.
  void remember(RollbackPoint<Scalar> point) {
    if (!at.rollback_points.empty() && !(point.loss < lowest().loss)) return;
    if (at.rollback_points.size() == 2) at.rollback_points.pop_back();
    at.rollback_points.push_back(std::move(point));
    at.steps_above = 0;
  }
  /// See `rollback_multiple`.
  double bound(double multiple) const {
    constexpr double eps = std::numeric_limits<Scalar>::epsilon();
    return lowest().loss + (multiple - 1.0) * std::abs(lowest().loss) +
           eps * std::abs(at.rollback_points.front().loss);
  }
  void stand_on(RollbackPoint<Scalar>& point, std::string reason) {
    w_ = point.w;
    at.optimizer = point.optimizer;
    if (point.reason.empty()) point.reason = std::move(reason);
    at.steps_above = 0;
  }

  /// In gradients.
  double probe_cost() const {
    double largest = 0.0;
    for (const Certificate& c : at.teleports) largest = std::max(largest, c.evaluations);
    return at.teleports.empty() ? first_probe_cost_ : largest;
  }

  bool keeps_points() const { return setting_.trace && w_.size() <= Trace::max_point_dimension; }
  Vector point() const { return keeps_points() ? Vector(w_.template cast<double>()) : Vector(); }

  /// What a checkpoint holds is used without further checks.
  void require_resumable(const Checkpoint<Scalar>& from) const {
    const auto require = [](bool good, const std::string& found, const std::string& allowed) {
      if (!good) throw InvalidArgument("checkpoint", found, allowed);
    };
    const auto parameters = [](Index count) { return fmt::format("{} parameters", count); };
    require(from.w.size() == w_.size(), parameters(from.w.size()), parameters(w_.size()));
    require(same_buffers(from.optimizer, at.optimizer),
            "an optimizer's state of " + buffer_list(from.optimizer),
            buffer_list(at.optimizer) + ", as this optimizer has");
    const std::string with_its_options = ": resume with the options that the run was started with";
    require(from.optimizer_name == at.optimizer_name, "the optimizer " + from.optimizer_name,
            at.optimizer_name + ", that of this run" + with_its_options);
    require(from.learning_rate == at.learning_rate, "the learning rate " + from.learning_rate,
            at.learning_rate + ", that of this run" + with_its_options);
    for (const RollbackPoint<Scalar>& point : from.rollback_points) {
      require(point.w.size() == w_.size() && same_buffers(point.optimizer, at.optimizer) &&
                  point.teleport < static_cast<Index>(from.teleports.size()),
              "a rollback point that does not fit", "the parameters and the state of this run");
    }
    require(from.trace.unit == setting_.unit,
            fmt::format("rows after each {}", to_string(from.trace.unit)),
            fmt::format("rows after each {}", to_string(setting_.unit)));
    const std::size_t points = from.trace.points.size();
    require(points == (keeps_points() ? from.trace.rows.size() : 0),
            fmt::format("{} points of the trace", points),
            keeps_points() ? "as many as rows" : "none");
  }

  static bool same_buffers(const OptimizerState<Scalar>& a, const OptimizerState<Scalar>& b) {
    return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                      [](const auto& x, const auto& y) {
                        const bool first_step_makes_it =
                            y.kind == StateKind::scalar && y.values.size() == 0;
                        return x.name == y.name && x.kind == y.kind &&
                               (x.values.size() == y.values.size() || first_step_makes_it);
                      });
  }
  /// "velocity (128 numbers)"
  static std::string buffer_list(const OptimizerState<Scalar>& state) {
    std::string list;
    for (const StateBuffer<Scalar>& buffer : state.buffers) {
      list += fmt::format("{}{} ({} numbers)", list.empty() ? "" : ", ", buffer.name,
                          buffer.values.size());
    }
    return list.empty() ? "nothing" : list;
  }

  double first_probe_cost_ = 100.0;
  VectorOf<Scalar>& w_;
  const Setting setting_;
  const Index rollback_steps_;
  std::optional<RunStatus> end_;
  bool stopping_ = false;
  Vector point_;
};

}  // namespace symport
