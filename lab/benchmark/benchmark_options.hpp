// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/benchmark/benchmark_problem.hpp"
#include "lab/benchmark/suite.hpp"
#include "lab/options/option_table.hpp"

namespace symport::lab::benchmark {

/// Unset: the suite, or of a budget the problem, decides.
struct BenchmarkOptions {
  std::string suite = "quick";
  std::vector<std::string> problem_names{};
  std::vector<compare::Method> methods{};  ///< plain ones first, see `with_baselines`
  std::optional<Index> seeds = std::nullopt;
  std::optional<Index> tuning_seeds = std::nullopt;
  std::optional<RateGrid> grid = std::nullopt;
  std::optional<compare::Budget> budget = std::nullopt;
  std::uint64_t seed = 0;  ///< the first
  double tolerance = 1e-3;
  double confidence = 0.95;
  Index jobs = 2;
  DataOptions where{};
  std::vector<BenchmarkProblem> problems{};  ///< by `problem_names`

  /// How far the starts of functions are from the usual one, see `compare::start_at`.
  static constexpr double spread = 0.3;

  const compare::Budget& budget_of(const BenchmarkProblem& problem) const {
    return budget ? *budget : problem.budget;
  }
  /// The seeds that judge, and those, all others, that choose learning rates.
  std::vector<std::uint64_t> judging_seeds() const;
  std::vector<std::uint64_t> choosing_seeds() const;
};
const OptionTable<BenchmarkOptions>& benchmark_options();

/// What was given, with nothing left open but the budget. Throws UsageError, for data that has not
/// been fetched too, with the command that does.
BenchmarkOptions read_benchmark_options(const Arguments& arguments);

/// A configuration file for `symport benchmark --config` that repeats it.
std::string benchmark_config(const BenchmarkOptions& options);

}  // namespace symport::lab::benchmark
