// SPDX-License-Identifier: MIT
#include "lab/runs/function_run.hpp"

#include "lab/options/own_function.hpp"
#include "lab/options/usual_rate.hpp"
#include "symport/optimizers/objective_bound.hpp"
#include "symport/symmetries/level_set.hpp"

namespace symport::lab {

namespace {

constexpr const char* run_group = "Run";

/// A function's name, which must be known; a configuration file has all its parameters.
Codec<std::string> as_function() {
  return {[](const std::string& text) {
            if (!text.empty()) full_specification(text);
            return text;
          },
          [](const std::string& text) {
            return ConfigValue(text.empty() ? text : full_specification(text));
          }};
}

/// The symmetry of a formula is what its user says it is.
void state_symmetry(FunctionRun& run) {
  const FunctionRunSpec& spec = run.spec;
  if (!is_formula(spec.function)) {
    if (!spec.symmetry) return;
    if (same_name(*spec.symmetry, LevelSet<double>().name())) {
      run.problem.symmetry = std::make_unique<LevelSet<double>>();
      return;
    }
    throw OptionError("symmetry",
                      fmt::format("applies to formulas only, except level_set; {} has its own, {}",
                                  run.problem.specification, run.problem.symmetry->name()));
  }
  if (spec.symmetry) {
    run.problem.symmetry = for_option("symmetry", [&] {
      return make_own_symmetry(*spec.symmetry, run.problem.function->dimension());
    });
    require_symmetry_of(*run.problem.symmetry, *run.problem.function, run.start());
  } else if (!spec.teleport.empty()) {
    throw OptionError("symmetry", fmt::format("missing; teleports of a formula need to know what "
                                              "it is invariant under: {}",
                                              join(names_of(own_symmetries()))));
  }
}

/// Throws unless the search can work on the orbits of this function.
void check_search(const FunctionRun& run) {
  if (!run.problem.symmetry) return;
  const auto orbit = run.problem.symmetry->orbit(*run.problem.function, run.start());
  require_fitting_search(
      run.spec.how.search, *run.search,
      fmt::format("{} of {}", run.problem.symmetry->name(), run.problem.specification), *orbit);
}

}  // namespace

const OptionTable<FunctionRunSpec>& function_run_options() {
  using S = FunctionRunSpec;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(
        run_group,
        {
            row({.name = "function",
                 .value = "FUNCTION",
                 .help = "its name, with parameters if you like: ellipse:10; or a formula in x1, "
                         "x2, ...: \"(x1*x2 - 1)^2\"",
                 .positional = true},
                &S::function, as_function()),
            row({"start", "X1,X2,...", "starting point (default: the function's own)"}, &S::start,
                as_numbers()),
            row({"optimizer", "NAME", join(names_of(optimizers()))}, &S::optimizer,
                as_name_of(optimizers())),
            row({"lr", "RATE|auto",
                 "learning rate: a number, step:RATE,FACTOR,PERIOD, cosine:RATE,PERIOD, "
                 "linear:RATE,PERIOD, or auto, which measures the step (gd only) (default: the "
                 "optimizer's on this function; auto for those that find their own steps)"},
                &S::learning_rate, as_rate()),
            row({"steps", "N", "number of steps (default: the function's own)"}, &S::steps,
                as_whole())
                .in_role(Role::length),
            row({"stop-at", "LOSS", "stop when the loss is below this"}, &S::stop_at, as_number())
                .in_role(Role::length),
            row({"seed", "N", "seed of the random numbers in searches"}, &S::seed, as_seed()),
        });
    rows.add(teleport_group,
             {
                 row({"symmetry", "NAME",
                      fmt::format("what a formula is invariant under: {} (symport "
                                  "list says more); named functions have their own, "
                                  "and level_set",
                                  join(names_of(own_symmetries())))},
                     &S::symmetry, as_text()),
                 row({"teleport", "SCHEDULE",
                      "steps before which to teleport: 5 | 0,10,20 | 0..40:10 | "
                      "every:100 (0, 100, 200, ...) | every:100+99 (99, 199, "
                      "...) | never; auto: where it pays for itself"},
                     &S::teleport, as_schedule()),
             });
    rows.include(teleport_options(), &S::how);
    rows.include(round_trip_options(), &S::trip);
    return rows;
  }();
  return table;
}

LearningRate FunctionRun::learning_rate() const {
  if (spec.learning_rate->rate) return *spec.learning_rate->rate;
  return problem.function->usual_run().learning_rate;  // where the curvature gives none
}

Vector FunctionRun::start() const {
  return Eigen::Map<const Vector>(spec.start->data(), std::ssize(*spec.start));
}

FunctionRun resolve(const FunctionRunSpec& asked) {
  if (is_own_name(asked.function)) {
    throw OptionError("function", fmt::format("found '{}', a function of somebody's own program, "
                                              "which alone can run it",
                                              asked.function));
  }
  FunctionRun run{
      asked, for_option("function", [&] { return make_problem(asked.function); }), {}, {}};
  FunctionRunSpec& spec = run.spec;
  const TestFunction& function = *run.problem.function;
  const UsualRun usual = function.usual_run();
  settle(spec.trip, spec.optimizer, false, !spec.teleport.empty());
  if (!spec.learning_rate && (!spec.trip.metric() || finds_its_own_steps(spec.optimizer))) {
    spec.learning_rate = usual_function_rate(spec.optimizer, usual.learning_rate);
  }
  if (!spec.steps) spec.steps = usual.steps;
  if (!spec.start && is_formula(spec.function)) {
    throw OptionError("start", fmt::format("missing; a formula has no starting point of its own: "
                                           "give {} numbers",
                                           function.dimension()));
  }
  if (!spec.start) {
    const Vector start = function.start();
    spec.start.emplace(start.begin(), start.end());
  }
  if (std::ssize(*spec.start) != function.dimension()) {
    throw OptionError("start", fmt::format("found {} number{}, allowed is {}, the dimension of {}",
                                           spec.start->size(), spec.start->size() == 1 ? "" : "s",
                                           function.dimension(), run.problem.specification));
  }
  state_symmetry(run);
  const bool automatic = spec.learning_rate && spec.learning_rate->automatic();
  auto rule = make_optimizer<double>(spec.optimizer, automatic, place_of(function));
  for_option("optimizer", [&] { require_fit<double>(*rule, function); });
  run.optimizer =
      with_round_trips<double>(std::move(rule), function, spec.trip, spec.learning_rate);
  run.search = resolve_search(spec.how);
  check_search(run);
  if (!spec.how.objective) {
    spec.how.objective = find_entry(searches(), spec.how.search).objective(*run.optimizer);
  }
  if (!spec.how.cap) spec.how.cap = default_cap(*spec.how.objective);
  if (!spec.how.rehearsal)
    spec.how.rehearsal = rehearsal_of(spec.how, spec.teleport, *run.optimizer);
  return run;
}

FunctionResult run_function(const FunctionRun& run, bool with_trace, StepWatcher watcher,
                            KeepGoing keep_going) {
  const FunctionRunSpec& spec = run.spec;
  FunctionResult result{
      spec, run.problem.function->formula(), run.problem.function->minimum(), run.start(), {}};
  result.summary = train<double>(
      *run.problem.function, *run.optimizer, result.x,
      {.max_steps = *spec.steps,
       .learning_rate = run.learning_rate(),
       .teleport = {.symmetry = spec.teleport.empty() ? nullptr : run.problem.symmetry.get(),
                    .search = run.search.get(),
                    .schedule = spec.teleport,
                    .state = spec.how.state,
                    .objective = spec.how.objective,
                    .bound = spec.how.bound,
                    .cap = spec.how.cap,
                    .rehearsal = *spec.how.rehearsal,
                    .keep_going = std::move(keep_going)},
       .stop = {.loss_below = spec.stop_at.value_or(Stopping{}.loss_below)},
       .seed = spec.seed,
       .trace = with_trace,
       .watcher = std::move(watcher)});
  return result;
}

}  // namespace symport::lab
