// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/budget.hpp"
#include "lab/compare/problem.hpp"
#include "symport/training/best_learning_rate.hpp"

namespace symport::lab::compare {

struct CompareOptions {
  std::vector<std::string> problem_names{};
  std::vector<Method> methods{};  ///< plain ones first, see `with_baselines`
  Budget budget{};
  std::optional<Target> target = std::nullopt;  ///< unset: see `target_of`
  Index seeds = 10;
  std::uint64_t seed = 0;  ///< the first
  double spread = 0.3;
  double confidence = 0.95;
  bool tune = false;
  RateGrid grid{.lowest = 1e-5, .highest = 10.0, .per_decade = 3};
  Index tuning_seeds = 3;
  /// Of every method without one of its own; unset: tuned.
  std::optional<RateSpec> rate = std::nullopt;
  NetworkRunSpec network{};         ///< of problems that are data
  std::vector<Problem> problems{};  ///< by `problem_names`
  std::filesystem::path out{};      ///< where every run gets a directory; empty: nowhere
};
const OptionTable<CompareOptions>& compare_options();

/// What was given, with what was left open: problems, methods, budget. Throws UsageError.
CompareOptions read_compare_options(const Arguments& arguments);

/// A configuration file for `symport compare --config` that repeats a comparison.
std::string compare_config(const CompareOptions& options);

/// The target that was asked for, or the usual one: rel:1e-6, on data sets rel:0.1. Throws
/// OptionError for mini-batches, whose runs begin with a whole epoch and do not measure where they
/// start.
Target target_of(const CompareOptions& options, const Problem& problem);

/// "1e-05..10:3"; `parse_grid` throws InvalidArgument.
std::string grid_text(const RateGrid& grid);
RateGrid parse_grid(const std::string& text);

}  // namespace symport::lab::compare
