// SPDX-License-Identifier: MIT
#include "lab/compare/trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/compare/infinity.hpp"
#include "lab/runs/run_writer.hpp"

namespace symport::lab::compare {

namespace {

/// Random numbers for starts do not depend on those of searches.
constexpr std::uint64_t start_stream = 3;
/// More steps or epochs than any budget in seconds has room for.
constexpr Index endless = 1'000'000'000'000;
constexpr double spacing = 1.01;
/// The clock's own resolution: a time that is a cost is not zero.
constexpr double shortest = 1e-9;

/// Sees the rows of a run, and knows when it has done enough.
class Observer {
 public:
  Observer(const TrialPlan& plan, const TrialWatcher& watcher) : plan_(plan), watcher_(watcher) {
    trial_.threshold = plan.threshold;
  }

  /// A row with a measured loss.
  void measured(Cost at, double loss) {
    at.seconds = std::max(at.seconds, shortest);
    if (!started_) trial_.last_loss = loss;  // where a first teleport spends all, that of the start
    started_ = true;
    if (at.in(plan_.budget.unit) > plan_.budget.amount) return;
    trial_.last_loss = loss;
    if (!trial_.reached && loss <= plan_.threshold) trial_.reached = at;
    if (plan_.keep_curve) keep(at, loss);
  }

  /// Whether to make another step.
  bool goes_on(const Cost& at) {
    trial_.spent = at;
    const bool enough =
        at.in(plan_.budget.unit) >= plan_.budget.amount || (plan_.stop_at_target && trial_.reached);
    if (enough) return false;
    stopped_ = !watcher_(at);
    return !stopped_;
  }
  /// The same within a step.
  bool keeps_going() {
    stopped_ = !watcher_(trial_.spent);
    return !stopped_;
  }
  /// By the watcher, not by its budget.
  bool stopped() const { return stopped_; }

  Trial finished(RunStatus status, const std::vector<Certificate>& teleports) {
    trial_.status = status;
    if (status == RunStatus::interrupted) trial_.status = RunStatus::step_limit;
    if (status == RunStatus::diverged) trial_.last_loss = infinity;
    trial_.teleports = TeleportTally(teleports);
    if (!trial_.points.empty() && trial_.points.back().steps < last_.steps) {
      trial_.points.push_back(last_);
      trial_.losses.push_back(last_loss_);
    }
    return std::move(trial_);
  }
  Trial& trial() { return trial_; }

 private:
  /// Rows are kept in equal ratios: all at first, a hundred or so for every e-fold later.
  void keep(const Cost& at, double loss) {
    last_ = at;
    last_loss_ = loss;
    if (at.steps < next_) return;
    next_ = at.steps * spacing;
    trial_.points.push_back(at);
    trial_.losses.push_back(loss);
  }

  const TrialPlan& plan_;
  const TrialWatcher& watcher_;
  Trial trial_;
  Cost last_;
  double last_loss_ = 0.0;
  bool started_ = false, stopped_ = false;
  double next_ = 0.0;  ///< the step at which a row is kept again
};

/// Every step costs a gradient at least.
Index length_of(const Budget& budget) {
  if (budget.unit == Budget::Unit::seconds) return endless;
  return static_cast<Index>(std::min(std::ceil(budget.amount), static_cast<double>(endless)));
}

/// A run that was ended early on purpose ended as planned.
RunStatus as_planned(RunStatus status) {
  return status == RunStatus::interrupted ? RunStatus::step_limit : status;
}

Trial run(const TrialPlan& plan, FunctionRunSpec spec, DataCache&, const TrialWatcher& watcher) {
  const Vector start = start_at(spec.function, plan.seed, plan.spread);
  spec.start.emplace(start.begin(), start.end());
  spec.seed = plan.seed;
  spec.steps = length_of(plan.budget);
  Observer observer(plan, watcher);
  FunctionResult result = run_function(
      resolve(spec), !plan.folder.empty(),
      [&](const TraceRow& row) {
        const Cost at{static_cast<double>(row.step), row.evaluations, row.seconds};
        observer.measured(at, row.loss);
        return observer.goes_on(at);
      },
      [&] { return observer.keeps_going(); });
  RunSummary& summary = result.summary;
  const RunStatus status = summary.status;
  if (!plan.folder.empty() && !observer.stopped()) {
    // Its directory repeats what was done, not what a budget would allow.
    result.spec.steps = summary.steps;
    summary.status = as_planned(status);
    RunDirectory directory(plan.folder, true, "--out");
    write_run(result, directory);
  }
  observer.trial().spent = {static_cast<double>(summary.steps), summary.evaluations,
                            summary.seconds};
  return observer.finished(status, summary.teleports);
}

Trial run(const TrialPlan& plan, NetworkRunSpec spec, DataCache& data,
          const TrialWatcher& watcher) {
  (spec.minibatch() ? spec.epochs : spec.steps) = length_of(plan.budget);
  spec.seed = plan.seed;
  Observer observer(plan, watcher);
  NetworkResult result =
      load(spec, data)
          ->train({}, {.watch =
                           [&](const NetworkProgress& p) {
                             const auto steps = static_cast<double>(
                                 p.minibatch ? p.epoch * p.steps + p.step : p.step);
                             const Cost at{steps, p.evaluations, p.seconds};
                             if (!p.minibatch) observer.measured(at, p.loss);
                             return observer.goes_on(at);
                           },
                       .epoch_done =
                           [&](const TraceRow& row) {
                             if (std::isnan(row.loss) && row.step == 0) return;  // not known yet
                             observer.measured(
                                 {static_cast<double>(row.step), row.evaluations, row.seconds},
                                 row.loss);
                           },
                       .keep_going = [&] { return observer.keeps_going(); },
                       .gradients = !plan.folder.empty(),
                       .clock = plan.clock});
  RunSummary& summary = result.summary;
  observer.trial().spent = {static_cast<double>(summary.steps), summary.evaluations,
                            summary.seconds};
  observer.trial().loss_invariant = result.loss_invariant;
  const RunStatus status = summary.status;
  if (!plan.folder.empty() && !observer.stopped()) {
    summary.status = as_planned(status);
    if (spec.minibatch()) {
      result.spec.epochs = summary.epochs;
    } else {
      result.spec.steps = summary.steps;
    }
    RunDirectory directory(plan.folder, true, "--out");
    write_run(result, directory);
  }
  return observer.finished(status, summary.teleports);
}

}  // namespace

Trial run_trial(const TrialPlan& plan, DataCache& data, const TrialWatcher& watcher) {
  return std::visit([&](const auto& spec) { return run(plan, spec, data, watcher); }, plan.spec);
}

void check_fits(const RunSpec& spec, DataCache& data) {
  if (const auto* function = std::get_if<FunctionRunSpec>(&spec)) {
    resolve(*function);
  } else {
    load(std::get<NetworkRunSpec>(spec), data);
  }
}

Vector start_at(const std::string& function, std::uint64_t seed, double spread) {
  const FunctionProblem made = make_problem(function);
  Vector x = made.function->start();
  const double distance = (x - made.function->minimizer()).norm();
  Random random(seed, start_stream);
  const double scale = spread * distance / std::sqrt(static_cast<double>(x.size()));
  for (double& value : x) value += scale * random.normal();
  return x;
}

StartLoss start_loss(const RunSpec& spec, DataCache& data, std::uint64_t seed, double spread) {
  if (const auto* run = std::get_if<FunctionRunSpec>(&spec)) {
    const FunctionProblem made = make_problem(run->function);
    return {made.function->value(start_at(run->function, seed, spread)), made.function->minimum()};
  }
  NetworkRunSpec network = std::get<NetworkRunSpec>(spec);
  network.seed = seed;
  return {load(network, data)->start_loss(), 0.0};
}

}  // namespace symport::lab::compare
