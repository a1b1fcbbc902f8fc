// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "commands/all.hpp"
#include "commands/run_output.hpp"
#include "commands/texts.hpp"
#include "lab/runs/run_writer.hpp"
#include "lab/text/parse_numbers.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

std::string details() {
  std::vector<std::string> usages;
  for (const FunctionEntry& function : functions()) usages.push_back(function.usage());
  return fmt::format(
      "Minimises a test function with an optimizer that teleports now and then: it jumps along "
      "the\n"
      "function's symmetry to a point with the same loss from which the next steps gain more\n"
      "(Algorithm 1).\n\nFunctions (symport list says more):\n  {}\n  or a formula in x1, x2, ... "
      "with "
      "numbers, pi, e, + - * / ^, parentheses and sqrt, exp, log,\n  sin, cos, tanh, asinh, abs; "
      "it "
      "needs --start, and --symmetry for teleports",
      join(usages, "\n  "));
}

constexpr const char* examples =
    "symport optimize rosenbrock\n"
    "symport optimize rosenbrock --teleport every:100+99\n"
    "symport optimize booth --start 5,-5 --teleport 4 --search fixed --search-rate 0.001\n"
    "symport optimize quadratic:50,1e4 --lr auto --teleport 0 --out runs/quadratic\n"
    "symport optimize \"(x1*x2 - 1)^2\" --symmetry scaling --start 3,1 --lr 0.01 --teleport "
    "every:10\n"
    "symport optimize --config runs/quadratic/config.toml --json";

/// Whether a run of so many steps comes to one of the schedule's.
bool happens(const Schedule& schedule, Index steps) {
  if (steps < 1) return false;
  if (schedule.contains(0)) return true;
  const std::optional<Index> first = schedule.next_after(0);
  return first && *first < steps;
}

/// Options that were given but change nothing, so that nobody wonders.
std::string idle_options(const Arguments& arguments, const FunctionRunSpec& spec) {
  std::string notes;
  const auto note = [&](const std::string& name, const std::string& why) {
    if (arguments.has(name)) {
      notes += fmt::format("note: {} has no effect {}\n", arguments.origin(name), why);
    }
  };
  if (spec.teleport.empty()) {
    for (const Option& option : teleport_options().options()) {
      note(option.name, "without --teleport");
    }
  } else if (!spec.teleport.automatic() && !happens(spec.teleport, *spec.steps)) {
    note("teleport", fmt::format("in a run of {} steps, which are counted from 0", *spec.steps));
  } else if (spec.how.search == "fixed") {
    for (const char* name : {"bound", "cap"}) {
      note(name, "with the search fixed, which makes no checks");
    }
  }
  return notes;
}

FunctionResult run_with_progress(const FunctionRun& run, const OutputOptions& options,
                                 bool with_trace) {
  Progress progress({.shown = options.shows_progress()});
  const Index steps = *run.spec.steps;
  const auto line = [&](const TraceRow& row) {
    const double done = static_cast<double>(row.step) / static_cast<double>(steps);
    const double left = done > 0.0 ? progress.seconds() * (1.0 - done) / done : 0.0;
    return fmt::format("{}: step {} of {} ({:.0f} %), loss {:.4g}, {} left", run.spec.function,
                       row.step, steps, 100.0 * done, row.loss, duration_text(left));
  };
  return run_function(
      run, with_trace,
      [&](const TraceRow& row) {
        progress.update([&] { return line(row); });
        return !interrupted();
      },
      [] { return !interrupted(); });
}

int run_optimize(const Arguments& arguments) {
  if (!arguments.has("function")) {
    throw OptionError("function",
                      fmt::format("missing, allowed is {}", join(names_of(functions()))));
  }
  const OutputOptions options = read_output_options(arguments);
  const FunctionRun run = resolve(function_run_options().read(arguments));
  RunOutput output("symport optimize", options);
  const GracefulStop graceful;
  output.open_directory();
  // A configuration file that repeats a run names every option; only what was typed is worth a
  // note.
  if (!options.quiet && !arguments.has(config_option)) {
    print_error(idle_options(arguments, run.spec));
  }
  const FunctionResult result = run_with_progress(run, options, output.needs_trace());
  output.deliver([&](RunDirectory& directory) { write_run(result, directory); },
                 options.json ? json_of(result) : optimize_text(result, Style::for_stdout()),
                 [&] { return record_of(result); });

  const RunSummary& summary = result.summary;
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
  return {
      .name = "optimize",
      .summary = "minimise a test function, with or without teleportation",
      .details = details(),
      .examples = examples,
      .options = joined({function_run_options().options(),
                         {config_flag("a run's config.toml", "Run")},
                         output_flags({"out", "report", "force", "json", "quiet", "no-progress"})}),
      .run = run_optimize};
}

}  // namespace symport::cli
