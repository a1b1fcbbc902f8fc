// SPDX-License-Identifier: MIT
#include "commands/optimize.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands/report_file.hpp"
#include "lab/runs/interruption.hpp"
#include "lab/text/parse_numbers.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// "ascent 10, fixed 10, random 10": the defaults of an option that not every search has.
template <class Number>
std::string defaults_by_search(std::optional<Number> SearchEntry::*option) {
  std::vector<std::string> parts;
  for (const SearchEntry& search : searches()) {
    if (search.*option) parts.push_back(fmt::format("{} {}", search.name, *(search.*option)));
  }
  return join(parts);
}

std::string details() {
  std::vector<std::string> usages;
  for (const FunctionEntry& function : functions()) usages.push_back(function.usage());
  return fmt::format(
      "Minimises a test function with an optimizer that teleports now and then: it jumps along "
      "the\n"
      "function's symmetry to a point with the same loss from which the next steps gain more\n"
      "(Algorithm 1).\n\nFunctions (symport list says more):\n  {}",
      join(usages, "\n  "));
}

constexpr const char* examples =
    "symport optimize rosenbrock\n"
    "symport optimize rosenbrock --teleport every:100+99\n"
    "symport optimize booth --start 5,-5 --teleport 4 --search fixed --search-rate 0.001\n"
    "symport optimize quadratic:50,1e4 --lr auto --teleport 0 --out runs/quadratic\n"
    "symport optimize --config runs/quadratic/config.toml --json";

std::vector<Option> options() {
  const OptimizeOptions defaults;
  const std::string run = "Run";
  const std::string teleport = "Teleportation";
  return {
      {"start", "X1,X2,...", "starting point (default: the function's own)", run},
      {"optimizer", "NAME",
       fmt::format("{}\n(default {})", join(names_of(optimizers())), defaults.optimizer), run},
      {"lr", "RATE|auto",
       "learning rate: a number, step:RATE,FACTOR,PERIOD, cosine:RATE,PERIOD,\n"
       "or auto, which measures the step (gd only) (default: the function's own)",
       run},
      {"steps", "N", "number of steps (default: the function's own)", run},
      {"seed", "N",
       fmt::format("seed of the random numbers in searches (default {})", defaults.seed), run},
      {"config", "FILE",
       "options from a TOML file, like the config.toml of a run; flags win; not in the file:\n"
       "--out, --report, --force",
       run},
      {"teleport", "SCHEDULE",
       fmt::format("steps before which to teleport: 5 | 0,10,20 | 0..40:10 | every:100 |\n"
                   "every:100+99 | never (default {})",
                   defaults.teleport.to_string()),
       teleport},
      {"search", "NAME",
       fmt::format("how the destination is found: {}\n(default {})", join(names_of(searches())),
                   defaults.search),
       teleport},
      {"search-steps", "N",
       fmt::format("steps of the search (default: {})", defaults_by_search(&SearchEntry::steps)),
       teleport},
      {"search-rate", "RATE",
       fmt::format("step size of the search (default: {})", defaults_by_search(&SearchEntry::rate)),
       teleport},
      {"objective", "NAME",
       fmt::format("what a teleport maximises: {}\n(default: {} for the search fixed, {} with --lr "
                   "auto,\nelse {})",
                   join(names_of(objectives())), to_string(ObjectiveKind::gradient_norm),
                   to_string(ObjectiveKind::decrement),
                   to_string(ObjectiveKind::predicted_decrease)),
       teleport},
      {"bound", "C",
       fmt::format("only destinations where rate * curvature along the gradient <= C\n(default {})",
                   defaults.bound),
       teleport},
      {"cap", "C",
       fmt::format(
           "only destinations where rate * largest curvature <= C\n(default {} for {}, else {})",
           default_cap(ObjectiveKind::predicted_decrease),
           to_string(ObjectiveKind::predicted_decrease), default_cap(ObjectiveKind::gradient_norm)),
       teleport},
      {"state", "POLICY",
       fmt::format("of the optimizer at a teleport: {} (default {})",
                   join(names_of(states()), " | "), to_string(defaults.state)),
       teleport},
      common::out(),
      common::report(),
      common::force(),
      common::json(),
      common::quiet(),
      common::no_progress(),
  };
}

/// Options that were given but change nothing, so that nobody wonders.
std::string idle_options(const Given& given, const Optimization& run) {
  std::string notes;
  const auto note = [&](const char* name, const std::string& why) {
    if (given.has(name))
      notes += fmt::format("note: {} has no effect {}\n", given.origin(name), why);
  };
  if (run.options().teleport.empty()) {
    for (const char* name :
         {"search", "search-steps", "search-rate", "objective", "bound", "cap", "state"}) {
      note(name, "without --teleport");
    }
  } else if (run.options().search == "fixed") {
    for (const char* name : {"bound", "cap"})
      note(name, "with the search fixed, which makes no checks");
  }
  return notes;
}

int run_optimize(const Given& given) {
  if (!given.has("function")) {
    throw UsageError("FUNCTION",
                     fmt::format("missing, allowed is {}", join(names_of(functions()))));
  }
  const bool quiet = given.is_on("quiet"), json = given.is_on("json"), force = given.is_on("force");
  const bool no_progress = given.is_on("no-progress");
  Optimization run(read_optimize_options(given), given);
  const std::optional<ReportFile> page = ReportFile::asked_for(given);

  std::unique_ptr<RunDirectory> directory;
  if (const auto path = given.text("out")) {
    directory = std::make_unique<RunDirectory>(*path, force, given.origin("out"));
  }
  // A configuration file that repeats a run names every option; only what was typed is worth a
  // note.
  if (!quiet && !given.has("config")) print_error(idle_options(given, run));

  {
    Progress progress(*given.text("function"), *run.options().steps,
                      {.shown = !quiet && !no_progress});
    run.run(directory != nullptr || page, [&](const TraceRow& row) {
      progress.update(row);
      return !interrupted();
    });
  }
  do_both(
      [&] {
        if (directory) write_run(run, *directory);
      },
      [&] { print(json ? optimize_json(run) : optimize_text(run, Style::for_stdout())); });
  if (directory && !quiet) print_error(fmt::format("Written to {}\n", directory->path().string()));

  if (page) {
    page->write_run(directory.get(), [&](RunDirectory& place) { write_run(run, place); });
    if (!quiet) print_error(fmt::format("Written to {}\n", page->path().string()));
  }

  const RunSummary& summary = run.summary();
  if (summary.status == RunStatus::diverged) {
    print_error(fmt::format("symport optimize: diverged at step {}: loss {}, |gradient|^2 {}\n",
                            summary.steps, summary.final_loss, summary.final_grad_sq));
    return exit_failed;
  }
  if (summary.status == RunStatus::interrupted) {
    print_error(fmt::format("symport optimize: interrupted before step {}\n", summary.steps));
    return exit_interrupted;
  }
  return exit_done;
}

}  // namespace

Command optimize_command() {
  return {.name = "optimize",
          .summary = "minimise a test function, with or without teleportation",
          .details = details(),
          .examples = examples,
          .positionals = {{"function", "FUNCTION",
                           "its name, with parameters if you like: ellipse:10"}},
          .options = options(),
          .run = run_optimize};
}

}  // namespace symport::cli
