// SPDX-License-Identifier: MIT
#include "commands/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/compare_text.hpp"
#include "commands/report_file.hpp"
#include "commands/train.hpp"
#include "lab/compare/output.hpp"
#include "lab/options/registry.hpp"
#include "lab/options/threads.hpp"
#include "lab/text/parse_numbers.hpp"
#include "lab/text/suggestion.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

namespace fs = std::filesystem;
using compare::CompareOptions;
using compare::Method;
using compare::Problem;

const std::vector<std::string> usual_problems{"rosenbrock", "booth", "quadratic", "factorization"};
const std::vector<std::string> usual_methods{
    "gd",
    "gd:lr=auto",
    "newton",
    "gd+teleport:every=100+99",
    "gd:lr=auto+teleport:every=5,search=ascent,search-steps=2",
    "gd+random:every=10"};
/// Schedules of mini-batches count epochs, and Newton's method is not for them.
const std::vector<std::string> usual_minibatch_methods{"gd", "adam", "gd+rescale:every=2",
                                                       "gd+random:every=2"};

constexpr const char* usual_data_budget = "2000evals";

constexpr const char* details =
    "Runs every method on every problem with the same seeds (the same start, data and weights for\n"
    "all), each with the learning rate that is best on other seeds, and says what it takes to\n"
    "reach a target loss, with confidence intervals, and in words whether teleportation helped.\n\n"
    "A method is OPTIMIZER[:lr=RATE|auto][+TELEPORT:WHEN[,OPTION=VALUE...]]\n"
    "  TELEPORT  teleport (the problem's usual symmetry; networks: gl), the name of a symmetry\n"
    "            (symport list), or random: a random element whatever it is worth (Armenta et "
    "al.)\n"
    "  WHEN      at=5 | at=0/10/20 | every=50 | every=100+99; mini-batches count epochs\n"
    "  OPTION    search, search-steps, search-rate, objective, bound, cap, kappa, state,\n"
    "            teleport-batches, teleport-batch-size, allow-partial-batch: as in symport train\n"
    "The plain form of every optimizer is always compared too. A teleport's own evaluations count.";

constexpr const char* examples =
    "symport compare\n"
    "symport compare rosenbrock --method gd+teleport:every=100+99 --method newton --budget "
    "1000evals\n"
    "symport compare regression --method gd:lr=auto+gl:every=2,search-steps=1 --method gd \\\n"
    "                --method adagrad+gl:at=5,state=reset --budget 2s --report compare.html\n"
    "symport compare mnist --samples 2000 --layers 784,64,10 --batch 20 --precision float \\\n"
    "                --method gd+rescale:at=1,kappa=2 --budget 2000evals --target 0.2 --seeds 6";

std::vector<Option> options() {
  const CompareOptions defaults;
  const std::string what = "Comparison", rate = "Learning rates", network = "Networks";
  std::vector<Option> list{
      {"method", "METHOD",
       fmt::format("again for each (default:\n{};\nmini-batches: {})", join(usual_methods, ",\n"),
                   join(usual_minibatch_methods)),
       what, true},
      {"budget", "Nevals|Ts",
       fmt::format("of every run: gradient evaluations (of a mini-batch) or seconds (default {};\n"
                   "with data sets {})",
                   defaults.budget.text(), usual_data_budget),
       what},
      {"target", "LOSS|rel:PART",
       "loss to reach, or part of the loss at the start, both above the known minimum\n"
       "(default rel:1e-6, data sets rel:0.1; mini-batches need a loss)",
       what},
      {"seeds", "N",
       fmt::format("runs of every method on every problem (default {})", defaults.seeds), what},
      {"seed", "N", fmt::format("the first of them (default {})", defaults.seed), what},
      {"spread", "S",
       fmt::format("of a function's starts around its usual one, in its distance from the minimum\n"
                   "(default {})",
                   defaults.spread),
       what},
      {"confidence", "P", fmt::format("of the intervals (default {})", defaults.confidence), what},
      {"config", "FILE",
       "options from a TOML file, such as a comparison's compare.toml; flags win; not in the\n"
       "file: --out, --report, --force",
       what},
      {"tune", "", "find the best rate of every method on the grid (the default without --lr)",
       rate},
      {"grid", "LOW..HIGH:N",
       fmt::format("rates from LOW to HIGH, N a decade (default {})",
                   compare::grid_text(defaults.grid)),
       rate},
      {"tuning-seeds", "N",
       fmt::format("seeds, other ones, with which rates are chosen (default {})",
                   defaults.tuning_seeds),
       rate},
      {"lr", "RATE|auto", "the same for all methods instead; their own (gd:lr=0.1) win", rate},
  };
  for (const Option& option : train_command().options) {
    const auto& names = compare::network_options();
    if (std::find(names.begin(), names.end(), option.name) == names.end()) continue;
    list.push_back(option);
    list.back().group = network;
  }
  for (Option option : {common::out(), common::report(), common::force(), common::json(),
                        common::quiet(), common::no_progress()}) {
    if (option.name == "out") option.help = "write every run and the tables to this directory";
    list.push_back(std::move(option));
  }
  return list;
}

std::vector<Problem> read_problems(const Given& given) {
  std::vector<std::string> names = given.list("problem");
  if (names.empty()) names = usual_problems;
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    const bool twice = std::any_of(problems.begin(), problems.end(),
                                   [&](const Problem& problem) { return problem.name == name; });
    if (twice) throw UsageError("PROBLEM", fmt::format("'{}' is given more than once", name));
    problems.push_back(compare::parse_problem(name, given));
  }
  const bool functions_only = std::all_of(problems.begin(), problems.end(),
                                          [](const Problem& problem) { return problem.function; });
  for (const std::string& name : compare::network_options()) {
    if (functions_only && given.has(name)) {
      throw UsageError(given.origin(name), "goes with data; test functions have no such option");
    }
  }
  return problems;
}

CompareOptions read_options(const Given& given) {
  CompareOptions options;
  const auto take = [&](const char* name, auto parse, auto& field) {
    if (auto value = given.read(name, parse)) field = std::move(*value);
  };
  options.problems = read_problems(given);
  const bool minibatch = std::any_of(options.problems.begin(), options.problems.end(),
                                     [](const Problem& problem) { return problem.minibatch; });
  std::vector<std::string> texts = given.list("method");
  if (texts.empty()) texts = minibatch ? usual_minibatch_methods : usual_methods;
  std::vector<Method> methods;
  for (const std::string& text : texts) methods.push_back(compare::parse_method(text));
  options.methods = compare::with_baselines(methods);
  const bool data = std::any_of(options.problems.begin(), options.problems.end(),
                                [](const Problem& problem) { return problem.data_set(); });
  if (data) options.budget = compare::parse_budget(usual_data_budget);
  take("budget", compare::parse_budget, options.budget);
  take("target", compare::parse_target, options.target);
  const auto count = [](Index smallest) {
    return [=](const std::string& text) { return parse_whole(text, smallest, 100000); };
  };
  take("seeds", count(1), options.seeds);
  take("seed", parse_seed, options.seed);
  take("tuning-seeds", count(1), options.tuning_seeds);
  take("grid", compare::parse_grid, options.grid);
  take("spread", parse_positive, options.spread);
  take(
      "confidence",
      [](const std::string& text) {
        const double value = parse_positive(text);
        if (value < 1.0) return value;
        throw InvalidArgument("confidence", fmt::format("'{}'", text), "a number between 0 and 1");
      },
      options.confidence);
  take(
      "lr", [](const std::string& text) { return text; }, options.rate);
  if (options.rate && given.is_on("tune")) {
    throw UsageError(given.origin("lr"), "goes without --tune: rates are either given or tuned");
  }
  for (const Problem& problem : options.problems) compare::target_of(options, problem);
  return options;
}

constexpr const char *config_name = "compare.toml", *runs_name = "runs.csv",
                     *result_name = "comparison.json";

void write_files(const compare::Comparison& result, RunDirectory& directory) {
  directory.write(config_name, compare::compare_config(result.options));
  directory.write(runs_name, compare::runs_csv(result));
  directory.write(result_name, compare::compare_json(result));
}

int run_compare(const Given& given) {
  const bool quiet = given.is_on("quiet"), json = given.is_on("json");
  CompareOptions options = read_options(given);
  const std::optional<ReportFile> page = ReportFile::asked_for(given);
  std::unique_ptr<RunDirectory> directory;
  if (const auto path = given.text("out")) {
    directory = std::make_unique<RunDirectory>(*path, given.is_on("force"), given.origin("out"));
    options.out = directory->path();
    for (const char* name : {config_name, runs_name, result_name}) {
      RunDirectory::refuse_link(options.out, name, given.origin("out"));
    }
  }
  if (!quiet) {
    const ThreadScope threads(static_cast<int>(given.read("threads", parse_threads).value_or(1)));
    tell_of_fewer_threads(
        threads, [](const std::string& text) { print_error("symport compare: " + text + "\n"); });
  }
  compare::Comparison result;
  {
    Progress progress("compare", 1, {.shown = !quiet && !given.is_on("no-progress")});
    result =
        compare::run_comparison(options, [&](double part, double seconds, const std::string& text) {
          progress.update(seconds, [&] {
            return fmt::format("{} {:3.0f} %  {}", Progress::bar(part), 100.0 * part, text);
          });
        });
  }
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
        print(json ? compare::compare_json(result) : compare_text(result, Style::for_stdout()));
      });
  for (const auto& written :
       {directory ? directory->path() : fs::path(), page ? page->path() : fs::path()}) {
    if (!quiet && !written.empty()) print_error(fmt::format("Written to {}\n", written.string()));
  }
  if (!result.interrupted) return exit_done;
  print_error(fmt::format("symport compare: interrupted; this is about {} of {} seeds\n",
                          result.seeds.size(), options.seeds));
  return exit_interrupted;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "several methods, each at its best learning rate; does teleportation help?",
          .details = details,
          .examples = examples,
          .positionals = {{"problem", "PROBLEM...",
                           fmt::format("functions, regression, data sets (default: {})",
                                       join(usual_problems)),
                           "Options", true}},
          .options = options(),
          .run = run_compare};
}

}  // namespace symport::cli
