// SPDX-License-Identifier: MIT
#include "lab/compare/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/runs/interruption.hpp"
#include "lab/runs/run_writer.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/search/teleport_tally.hpp"

namespace symport::lab::compare {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Random numbers for starts do not depend on those of searches.
constexpr std::uint64_t start_stream = 3;
/// More steps or epochs than any budget in seconds has room for.
constexpr const char* endless = "1e12";
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
    if (!plan_.stop_at_target) keep(at, loss);
  }

  /// Whether to make another step.
  bool goes_on(const Cost& at) {
    trial_.spent = at;
    const bool enough =
        at.in(plan_.budget.unit) >= plan_.budget.amount || (plan_.stop_at_target && trial_.reached);
    return !enough && watcher_(at);
  }

  Trial finished(RunStatus status, const std::vector<Certificate>& teleports) {
    trial_.status = status;
    if (status == RunStatus::interrupted) trial_.status = RunStatus::step_limit;
    if (status == RunStatus::diverged) trial_.last_loss = infinity;
    const TeleportTally tally(teleports);
    trial_.teleports = teleports.size();
    trial_.accepted = static_cast<std::size_t>(tally.accepted);
    trial_.drift = tally.largest_drift;
    if (tally.first_refusal) trial_.refusal = tally.first_refusal->reason;
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
  bool started_ = false;
  double next_ = 0.0;  ///< the step at which a row is kept again
};

/// Every step costs a gradient at least.
std::string length_of(const Budget& budget) {
  if (budget.unit == Budget::Unit::seconds) return endless;
  return fmt::format("{:.0f}", std::ceil(budget.amount));
}

Trial run_function(const TrialPlan& plan, Given given, const TrialWatcher& watcher) {
  given.set("steps", {length_of(plan.budget), "--budget"});
  OptimizeOptions options = read_optimize_options(given);
  const Vector start = start_at(plan.problem, plan.seed, plan.spread);
  options.start.emplace(start.begin(), start.end());
  options.seed = plan.seed;
  Optimization run(options, given);
  Observer observer(plan, watcher);
  run.run(!plan.folder.empty(), [&](const TraceRow& row) {
    const Cost at{static_cast<double>(row.step), row.evaluations, row.seconds};
    observer.measured(at, row.loss);
    return observer.goes_on(at);
  });
  if (!plan.folder.empty() && !interrupted()) {
    run.end_as_planned();
    RunDirectory directory(plan.folder, true, "--out");
    write_run(run, directory);
  }
  const RunSummary& summary = run.summary();
  observer.trial().spent = {static_cast<double>(summary.steps), summary.evaluations,
                            summary.seconds};
  return observer.finished(summary.status, summary.teleports);
}

Trial run_network(const TrialPlan& plan, Given given, const TrialWatcher& watcher) {
  given.set(plan.problem.minibatch ? "epochs" : "steps", {length_of(plan.budget), "--budget"});
  TrainingOptions options = read_training_options(given);
  options.seed = plan.seed;
  Observer observer(plan, watcher);
  TrainingResult result = train_network(
      options, given, [] { return TrainingPlace{}; },
      {.watch =
           [&](const TrainingProgress& p) {
             const auto steps =
                 static_cast<double>(p.minibatch ? p.epoch * p.steps + p.step : p.step);
             const Cost at{steps, p.evaluations, p.seconds};
             if (!p.minibatch) observer.measured(at, p.loss);
             return observer.goes_on(at);
           },
       .epoch_done =
           [&](const TraceRow& row) {
             const Cost at{static_cast<double>(row.step), row.evaluations, row.seconds};
             if (!std::isnan(row.loss) || row.step > 0) observer.measured(at, row.loss);
           },
       .warn = [](const std::string&) {}});
  const RunSummary& run = result.run;
  observer.trial().spent = {static_cast<double>(run.steps), run.evaluations, run.seconds};
  observer.trial().loss_invariant = result.loss_invariant;
  if (!plan.folder.empty() && !interrupted()) {
    // Its directory repeats what was done, not what a budget would allow.
    if (run.status == RunStatus::interrupted) result.run.status = RunStatus::step_limit;
    result.options.length = result.minibatch() ? run.epochs : run.steps;
    RunDirectory directory(plan.folder, true, "--out");
    write_training(result, directory);
  }
  return observer.finished(run.status, run.teleports);
}

}  // namespace

std::string Budget::text() const {
  return exact_text(amount) + (unit == Unit::evaluations ? "evals" : "s");
}

std::string Budget::unit_name() const {
  return unit == Unit::evaluations ? "gradient evaluations" : "seconds";
}

Budget parse_budget(const std::string& text) {
  const auto ending = [&](const char* unit) { return text.ends_with(unit); };
  const auto number = [&](std::size_t letters) {
    return parse_positive(std::string_view(text).substr(0, text.size() - letters));
  };
  try {
    if (ending("evals")) return {Budget::Unit::evaluations, number(5)};
    if (ending("ms")) return {Budget::Unit::seconds, number(2) / 1000.0};
    if (ending("s")) return {Budget::Unit::seconds, number(1)};
  } catch (const InvalidArgument&) {
  }
  throw InvalidArgument("budget", fmt::format("'{}'", text),
                        "gradient evaluations like 2000evals, or a time like 5s or 500ms");
}

std::string Target::text() const { return (relative ? "rel:" : "") + exact_text(value); }

Target parse_target(const std::string& text) {
  const bool relative = text.starts_with("rel:");
  try {
    if (!relative) return {parse_number(text), false};
    const double part = parse_positive(text.substr(4));
    if (part < 1.0) return {part, true};
  } catch (const InvalidArgument&) {
  }
  throw InvalidArgument("target", fmt::format("'{}'", text),
                        "a loss like 0.1, or a part of the loss at the start like rel:0.001");
}

Vector start_at(const Problem& problem, std::uint64_t seed, double spread) {
  const auto made = blaming("PROBLEM", [&] { return make_problem(problem.name); });
  Vector x = made.function->start();
  const double distance = (x - made.function->minimizer()).norm();
  Random random(seed, start_stream);
  const double scale = spread * distance / std::sqrt(static_cast<double>(x.size()));
  for (double& value : x) value += scale * random.normal();
  return x;
}

StartLoss start_loss(const Problem& problem, std::uint64_t seed, double spread) {
  if (problem.function) {
    const auto made = blaming("PROBLEM", [&] { return make_problem(problem.name); });
    return {made.function->value(start_at(problem, seed, spread)), made.function->minimum()};
  }
  Given given = problem.options;
  given.set("steps", {"0", "--budget"});
  TrainingOptions options = read_training_options(given);
  options.seed = seed;
  const TrainingResult result =
      train_network(options, given, [] { return TrainingPlace{}; },
                    {.watch = [](const TrainingProgress&) { return true; },
                     .epoch_done = [](const TraceRow&) {},
                     .warn = [](const std::string&) {}});
  return {result.run.trace.rows.at(0).loss, 0.0};
}

Trial run_trial(const TrialPlan& plan, const TrialWatcher& watcher) {
  Given given = options_for(plan.problem, plan.method);
  if (plan.rate && !plan.method.has_own_rate()) given.set("lr", {*plan.rate, "--lr"});
  return plan.problem.function ? run_function(plan, std::move(given), watcher)
                               : run_network(plan, std::move(given), watcher);
}

}  // namespace symport::lab::compare
