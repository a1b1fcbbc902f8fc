// SPDX-License-Identifier: MIT
#include "lab/benchmark/benchmark_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/compare/codecs.hpp"
#include "lab/compare/compare_options.hpp"
#include "lab/config/config_writer.hpp"
#include "lab/data/directory.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::benchmark {

namespace {

/// Rates are chosen with other seeds than those that judge.
constexpr std::uint64_t first_choosing_seed = 1'000'000;
/// Runs stop at a billionth (`finished`); what is to be told apart must be larger.
constexpr double least_tolerance = 1e-6;

Codec<double> as_tolerance() {
  return {[](const std::string& text) {
            const double value = parse_positive(text);
            if (!(value >= least_tolerance && value < 1.0)) {
              throw InvalidArgument("tolerance", fmt::format("'{}'", text),
                                    fmt::format("a number from {:g} to below 1", least_tolerance));
            }
            return value;
          },
          [](const double& value) { return ConfigValue(value); }};
}

/// All sets that are missing, in one command.
void require_data(const BenchmarkOptions& options) {
  const DataDirectory directory = data_directory(options.where.data_dir);
  std::vector<std::string> missing;
  for (const BenchmarkProblem& problem : options.problems) {
    const auto* entry = entry_named(data_catalog(), problem.data());
    if (entry == nullptr || directory.complete(*entry)) continue;
    if (std::find(missing.begin(), missing.end(), entry->name) == missing.end()) {
      missing.push_back(entry->name);
    }
  }
  if (missing.empty()) return;
  const std::string where =
      options.where.data_dir ? fmt::format(" --data-dir {}", *options.where.data_dir) : "";
  throw UsageError(
      "--problems",
      fmt::format("data of {} sets has not been fetched (looked in {}); fetch it "
                  "with: symport data fetch {}{}",
                  missing.size(), directory.path.string(), fmt::join(missing, " "), where));
}

}  // namespace

std::vector<std::uint64_t> BenchmarkOptions::judging_seeds() const {
  std::vector<std::uint64_t> list;
  for (Index i = 0; i < seeds.value_or(0); ++i)
    list.push_back(seed + static_cast<std::uint64_t>(i));
  return list;
}

std::vector<std::uint64_t> BenchmarkOptions::choosing_seeds() const {
  std::vector<std::uint64_t> list;
  for (Index i = 0; i < tuning_seeds.value_or(0); ++i) {
    list.push_back(seed + first_choosing_seed + static_cast<std::uint64_t>(i));
  }
  return list;
}

const OptionTable<BenchmarkOptions>& benchmark_options() {
  using S = BenchmarkOptions;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(
        "Benchmark",
        {row({.name = "suite",
              .value = "SUITE",
              .help = join(names_of(suites())) + "; --list shows what they hold",
              .positional = true},
             &S::suite, as_name_of(suites())),
         row({.name = "problems",
              .value = "PROBLEM",
              .help = "once for each: a name of --list or a test function (default: the suite's)",
              .many = true},
             &S::problem_names, as_text()),
         row({.name = "methods",
              .value = "METHOD",
              .help = "once for each, as --method of symport compare (default: the suite's)",
              .many = true},
             &S::methods, compare::as_method()),
         row({"seeds", "N", "runs of every method on every problem (default: the suite's)"},
             &S::seeds, as_whole(1, 100000)),
         row({"seed", "N", "the first of them"}, &S::seed, as_seed()),
         row({"budget", "Nevals|Ts",
              "of every run: gradient evaluations (of a mini-batch) or seconds (default: the "
              "problem's)"},
             &S::budget, compare::as_budget()),
         row({"tolerance", "T",
              "a problem is solved when the loss is within this part of the way from the start to "
              "the best loss known"},
             &S::tolerance, as_tolerance()),
         row({"confidence", "P", "of the intervals"}, &S::confidence, compare::as_confidence()),
         row({"jobs", "N", "runs at the same time; with 1 none slows another down"}, &S::jobs,
             as_whole(1, 1024))
             .in_role(Role::execution)});
    rows.add(
        "Learning rates",
        {row({"grid", "LOW..HIGH:N", "rates from LOW to HIGH, N per decade (default: the suite's)"},
             &S::grid, compare::as_form(compare::parse_grid, compare::grid_text)),
         row({"tuning-seeds", "N",
              "seeds, other ones, with which rates are chosen (default: the suite's)"},
             &S::tuning_seeds, as_whole(1, 100000))});
    rows.include(data_options(), &S::where, {"data-dir"});
    return rows;
  }();
  return table;
}

BenchmarkOptions read_benchmark_options(const Arguments& arguments) {
  BenchmarkOptions options = benchmark_options().read(arguments);
  const Suite& suite = find_entry(suites(), options.suite);
  if (options.problem_names.empty()) options.problem_names = suite.problems;
  for (const std::string& name : options.problem_names) {
    options.problems.push_back(find_problem(name));
    if (auto* spec = std::get_if<NetworkRunSpec>(&options.problems.back().problem.spec)) {
      spec->where.data_dir = options.where.data_dir;
    }
  }
  if (options.methods.empty()) {
    for (const std::string& text : suite.methods) {
      options.methods.push_back(compare::parse_method(text));
    }
  }
  options.methods = compare::with_baselines(options.methods);
  if (!options.seeds) options.seeds = suite.seeds;
  if (!options.tuning_seeds) options.tuning_seeds = suite.tuning_seeds;
  if (!options.grid) options.grid = suite.grid;
  require_data(options);
  return options;
}

std::string benchmark_config(const BenchmarkOptions& options) {
  std::vector<ConfigEntry> entries{{"command", std::string("benchmark")}};
  for (ConfigEntry& entry : benchmark_options().write(options)) {
    entries.push_back(std::move(entry));
  }
  return config_text(fmt::format("A benchmark of symport {}. To repeat it:\n  symport benchmark "
                                 "--config benchmark.toml",
                                 version()),
                     entries);
}

}  // namespace symport::lab::benchmark
