// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/compare_options.hpp"
#include "lab/compare/trial.hpp"

namespace symport::lab::compare {

/// What it cost to find a rate: reported, but not counted.
struct TuningCost {
  std::size_t runs = 0;
  double evaluations = 0.0, seconds = 0.0;
};

/// A method on a problem.
struct Entry {
  std::string misfit{};  ///< why the method does not fit the problem; empty: it does
  RunSpec spec{};        ///< of its runs, with the rate; all but start, seed and length
  std::string rate{};    ///< with which it ran: "0.00215", "auto"
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

struct CompareWatch {
  /// Told how far a comparison is; `text` says what is being done.
  std::function<void(double part, const std::string& text)> progress = [](double,
                                                                          const std::string&) {};
  /// Asked again and again; false: stop.
  std::function<bool()> keep_going = [] { return true; };
};

/// Tunes every method on every problem with seeds of its own, then runs seed after seed, on each
/// all problems with all methods, so that what slows the machine down hits all alike. When it is
/// stopped, the seeds that are complete remain.
///
/// Throws UsageError when a method fits none of the problems.
Comparison run_comparison(const CompareOptions& options, DataCache& data,
                          const CompareWatch& watch);

}  // namespace symport::lab::compare
