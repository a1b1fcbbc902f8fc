// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "commands/report_file.hpp"
#include "commands/texts.hpp"
#include "lab/options/threads.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr const char* details =
    "Runs every method on every problem with the same seeds (the same start, data and weights for\n"
    "all), each with the learning rate that is best on other seeds, and says what it takes to\n"
    "reach a target loss, with confidence intervals, and in words whether teleportation helped.\n\n"
    "A method is OPTIMIZER[:lr=RATE|auto][+TELEPORT:WHEN[,OPTION=VALUE...]]\n"
    "  TELEPORT  teleport (the problem's usual symmetry; networks: rescale where the activation\n"
    "            allows it, otherwise gl), the name of a symmetry (symport list), or random: a\n"
    "            random element, accepted as it is (Armenta et al.)\n"
    "  WHEN      5 | 0/10/20 | every:50 | every:100+99 | auto; mini-batches count epochs\n"
    "  OPTION    search, search-steps, search-rate, objective, bound, cap, kappa, state,\n"
    "            teleport-batches, teleport-batch-size, allow-partial-batch: as in symport train\n"
    "The plain form of every optimizer is always compared too. A teleport's own evaluations "
    "count.\n"
    "A comparison cannot be resumed; symport benchmark --resume can.";

constexpr const char* examples =
    "symport compare\n"
    "symport compare rosenbrock --method gd+teleport:every:100+99 --method newton --budget "
    "1000evals\n"
    "symport compare regression --method gd:lr=auto+gl:every:2,search-steps=1 --method gd \\\n"
    "                --method adagrad+gl:at=5,state=reset --budget 2s --report compare.html\n"
    "symport compare mnist --samples 2000 --layers 784,64,10 --batch 20 --precision float \\\n"
    "                --method gd+rescale:at=1,kappa=2 --budget 2000evals --target 0.2 --seeds 6";

constexpr const char *config_name = "compare.toml", *runs_name = "runs.csv",
                     *result_name = "comparison.json";

void write_files(const compare::Comparison& result, RunDirectory& directory) {
  directory.write(config_name, compare::compare_config(result.options));
  directory.write(runs_name, compare::runs_csv(result));
  directory.write(result_name, compare::compare_json(result));
}

compare::Comparison compare_with_progress(const compare::CompareOptions& options,
                                          const OutputOptions& output) {
  Progress progress({.shown = output.shows_progress()});
  DataCache data;
  return compare::run_comparison(
      options, data,
      {.progress =
           [&](double part, const std::string& text) {
             progress.update([&] {
               return fmt::format("{} {:3.0f} %  {}", Progress::bar(part), 100.0 * part, text);
             });
           },
       .keep_going = [] { return !interrupted(); }});
}

int run_compare(const Arguments& arguments) {
  const OutputOptions output = read_output_options(arguments);
  compare::CompareOptions options = compare::read_compare_options(arguments);
  const std::optional<ReportFile> page = ReportFile::asked_for(output);
  const GracefulStop graceful;
  const std::unique_ptr<RunDirectory> directory = output.directory();
  if (directory) {
    options.out = directory->path();
    for (const char* name : {config_name, runs_name, result_name}) {
      RunDirectory::refuse_link(options.out, name, "--out");
    }
  }
  if (!output.quiet) {
    const ThreadScope threads(static_cast<int>(options.network.threads));
    tell_of_fewer_threads(
        threads, [](const std::string& text) { print_error("symport compare: " + text + "\n"); });
  }
  const compare::Comparison result = compare_with_progress(options, output);
  if (result.seeds.empty()) {
    print_error("symport compare: interrupted before the first seed was complete\n");
    return exit_interrupted;
  }
  do_both(
      [&] {
        if (directory) write_files(result, *directory);
        if (page) page->write(compare::compare_report(result));
      },
      [&] {
        print(output.json ? compare::compare_json(result)
                          : compare_text(result, Style::for_stdout()));
      });
  for (const auto& written : {directory ? directory->path() : std::filesystem::path(),
                              page ? page->path() : std::filesystem::path()}) {
    if (!output.quiet && !written.empty()) {
      print_error(fmt::format("Written to {}\n", written.string()));
    }
  }
  if (!result.interrupted) return exit_done;
  print_error(fmt::format("symport compare: interrupted; results cover {} of {} seeds\n",
                          result.seeds.size(), options.seeds));
  return exit_interrupted;
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .summary = "several methods, each at its best learning rate; does teleportation help?",
      .details = details,
      .examples = examples,
      .options = joined({compare::compare_options().options(),
                         {config_flag("a comparison's compare.toml", "Comparison")},
                         output_flags({{"out", "write every run and the tables to this directory"},
                                       "report",
                                       "force",
                                       "json",
                                       "quiet",
                                       "no-progress"})}),
      .run = run_compare};
}

}  // namespace symport::cli
