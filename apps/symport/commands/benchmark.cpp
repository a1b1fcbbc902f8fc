// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "commands/benchmark_text.hpp"
#include "lab/benchmark/cell_files.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/report/page.hpp"
#include "lab/report/pictures.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr const char* benchmark_details =
    "Runs every method of a suite on every problem with the same seeds, each at the learning rate\n"
    "that was best on other seeds, and answers which method wins, in gradient evaluations and in\n"
    "seconds: performance profiles, a table for each problem with confidence intervals, the range\n"
    "of good learning rates, how often teleports did harm, their drift, and a verdict in words.\n\n"
    "A problem is solved when the loss is within --tolerance of the way from the start to the "
    "best\n"
    "loss known: the minimum of a test function, otherwise the lowest that any method reached.\n"
    "With --out every finished method on every problem is a file; --resume DIR goes on with what\n"
    "is missing, and with other --methods or --problems extends it.";

constexpr const char* benchmark_examples =
    "symport benchmark\n"
    "symport benchmark --list\n"
    "symport benchmark functions --out runs/functions\n"
    "symport benchmark --resume runs/functions\n"
    "symport benchmark quick --methods gd --methods gd+teleport:every:10 --problems rosenbrock";

constexpr const char *benchmark_list_option = "list", *benchmark_resume_option = "resume";
constexpr const char *benchmark_config_name = "benchmark.toml",
                     *benchmark_results_name = "results.csv",
                     *benchmark_json_name = "benchmark.json",
                     *benchmark_page_name = "benchmark.html";

/// What was given, with the options of the benchmark that is to go on.
Arguments with_earlier_benchmark(const Arguments& arguments, const std::string& directory) {
  if (arguments.has("out")) {
    throw OptionError("out", "cannot be combined with --resume, which names the directory");
  }
  if (arguments.has("force")) {
    throw OptionError("force", "cannot be combined with --resume, which keeps what is there");
  }
  const std::string file = (std::filesystem::path(directory) / benchmark_config_name).string();
  Arguments all = arguments;
  all.merge(parse_config(read_config_text(file, "--resume"), file, "benchmark",
                         benchmark::benchmark_options().options()));
  return all;
}

void write_benchmark(const benchmark::Benchmark& result, const benchmark::Findings& findings,
                     RunDirectory& directory) {
  const report::Report page = benchmark::benchmark_report(result, findings);
  directory.write(benchmark_results_name, benchmark::results_csv(result));
  directory.write(benchmark_json_name, benchmark::benchmark_json(result, findings));
  directory.write(benchmark_page_name, report::page(page));
  for (const auto& [name, svg] : report::pictures(page)) directory.write(name, svg);
}

int run_benchmark_command(const Arguments& given) {
  const OutputOptions output = read_output_options(given);
  if (given.has(benchmark_list_option)) {
    print(suites_text(Style::for_stdout()));
    return exit_done;
  }
  const std::optional<std::string> resumed = given.text(benchmark_resume_option);
  const Arguments arguments = resumed ? with_earlier_benchmark(given, *resumed) : given;
  const benchmark::BenchmarkOptions options =
      arguments.explained([&] { return benchmark::read_benchmark_options(arguments); });
  const GracefulStop graceful;
  const std::unique_ptr<RunDirectory> directory =
      resumed ? std::make_unique<RunDirectory>(*resumed, true, "--resume") : output.directory();
  if (directory) directory->write(benchmark_config_name, benchmark::benchmark_config(options));

  Progress progress({.shown = output.shows_progress()});
  DataCache data;
  const benchmark::CellFiles files = benchmark::cell_files(directory.get(), resumed.has_value());
  const benchmark::Benchmark result = benchmark::run_benchmark(
      options, data, files,
      {.progress =
           [&](double part, const std::string& text) {
             progress.update([&] {
               return fmt::format("{} {:3.0f} %  {}", Progress::bar(part), 100.0 * part, text);
             });
           },
       .keep_going = [] { return !interrupted(); },
       .warn = [](const std::string& text) { print_error("symport benchmark: " + text + "\n"); }});
  const std::string how_to_resume =
      directory ? "; to go on: symport benchmark --resume " + directory->path().string() : "";
  if (result.problems.empty()) {
    print_error(
        fmt::format("symport benchmark: interrupted before the first problem was complete"
                    "{}\n",
                    how_to_resume));
    return exit_interrupted;
  }
  const benchmark::Findings findings(result);
  do_both(
      [&] {
        if (directory) write_benchmark(result, findings, *directory);
      },
      [&] {
        print(output.json ? benchmark::benchmark_json(result, findings)
                          : benchmark_text(result, findings, Style::for_stdout()));
      });
  if (!output.quiet && directory) {
    print_error(fmt::format("Written to {}\n", directory->path().string()));
  }
  if (!result.interrupted) return exit_done;
  print_error(fmt::format("symport benchmark: interrupted; results cover {} of {} problems{}\n",
                          result.problems.size(), options.problems.size(), how_to_resume));
  return exit_interrupted;
}

}  // namespace

Command benchmark_command() {
  return {.name = "benchmark",
          .summary = "a suite of problems and methods: which one wins, at what cost, how surely",
          .details = benchmark_details,
          .examples = benchmark_examples,
          .options = joined(
              {benchmark::benchmark_options().options(),
               {{.name = benchmark_list_option,
                 .value = "",
                 .help = "what the suites hold, and nothing else",
                 .group = "Benchmark",
                 .role = Role::execution},
                config_flag("a benchmark's benchmark.toml", "Benchmark"),
                {.name = benchmark_resume_option,
                 .value = "DIR",
                 .help = "go on with the benchmark in this directory; flags change or extend it",
                 .group = "Output",
                 .role = Role::execution}},
               output_flags(
                   {{"out", "write results, page, figures and finished cells to this directory"},
                    "force",
                    "json",
                    "quiet",
                    "no-progress"})}),
          .run = run_benchmark_command};
}

}  // namespace symport::cli
