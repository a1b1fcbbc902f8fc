// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/trial.hpp"
#include "symport/training/best_learning_rate.hpp"

namespace symport::lab::compare {

struct CompareOptions {
  std::vector<Problem> problems{};
  std::vector<Method> methods{};  ///< plain ones first, see `with_baselines`
  Budget budget{};
  std::optional<Target> target{};     ///< unset: `default_target`
  std::optional<std::string> rate{};  ///< of every method without one of its own; unset: tuned
  RateGrid grid{.lowest = 1e-5, .highest = 10.0, .per_decade = 3};
  Index seeds = 10;
  Index tuning_seeds = 3;
  std::uint64_t seed = 0;  ///< the first
  double spread = 0.3;
  double confidence = 0.95;
  std::filesystem::path out{};  ///< where every run gets a directory; empty: nowhere
};

/// The target that was asked for, or the usual one: rel:1e-6, on data sets rel:0.1. Throws
/// UsageError for mini-batches, whose runs begin with a whole epoch and do not measure where they
/// start.
Target target_of(const CompareOptions& options, const Problem& problem);

/// What finding a rate has cost; it is reported and counts for nothing.
struct TuningCost {
  std::size_t runs = 0;
  double evaluations = 0.0, seconds = 0.0;
};

/// A method on a problem.
struct Entry {
  std::string misfit{};  ///< why the method does not fit the problem; empty: it does
  std::string rate{};    ///< with which it ran: "0.00215", "auto", "usual"
  bool tuned = false;
  bool at_edge = false;  ///< the best rate is the first or the last of the grid
  TuningCost tuning{};
  std::vector<Trial> trials{};  ///< one for each seed

  bool fits() const { return misfit.empty(); }
};

struct ProblemResult {
  Problem problem;
  Target target{};
  std::vector<Entry> entries{};  ///< in the order of the methods
};

struct Comparison {
  CompareOptions options;
  std::vector<std::uint64_t> seeds{};  ///< of which every method has a trial on every problem
  std::vector<ProblemResult> problems{};
  bool interrupted = false;
  double seconds = 0.0;  ///< altogether, tuning included
};

/// Told how far a comparison is; `text` says what is being done.
using CompareProgress = std::function<void(double part, double seconds, const std::string& text)>;

/// Tunes every method on every problem with seeds of its own, then runs seed after seed, on each
/// all problems with all methods, so that what slows the machine down hits all alike. When it is
/// interrupted, the seeds that are complete remain.
///
/// Throws UsageError when a method fits none of the problems.
Comparison run_comparison(const CompareOptions& options, const CompareProgress& progress);

}  // namespace symport::lab::compare
