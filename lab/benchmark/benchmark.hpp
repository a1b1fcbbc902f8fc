// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/benchmark/benchmark_options.hpp"
#include "lab/benchmark/cell_files.hpp"
#include "lab/benchmark/recorded_run.hpp"

namespace symport::lab::benchmark {

/// The runs of one learning rate, one for each seed that chooses.
struct RateRuns {
  std::string rate;  ///< "0.0316", "auto"
  std::vector<RecordedRun> runs{};
};

/// A method on a problem.
struct Cell {
  std::string misfit{};             ///< why the method does not fit the problem; empty: it does
  std::vector<RateRuns> tuning{};   ///< in the order of the grid; one where the rate is given
  std::size_t chosen = 0;           ///< of these
  std::vector<RecordedRun> runs{};  ///< one for each seed that judges; empty: not finished

  bool fits() const { return misfit.empty(); }
  bool tuned() const { return tuning.size() > 1; }
  const std::string& rate() const { return tuning.at(chosen).rate; }
  bool at_edge() const { return tuned() && (chosen == 0 || chosen + 1 == tuning.size()); }
};

struct ProblemCells {
  BenchmarkProblem problem;
  std::vector<Cell> cells{};  ///< in the order of the methods

  bool complete() const;
};

struct Benchmark {
  BenchmarkOptions options;
  /// Those of which all methods have all runs; all, unless it was interrupted.
  std::vector<ProblemCells> problems{};
  bool interrupted = false;
  std::size_t kept = 0;  ///< cells that an earlier run had finished
  double seconds = 0.0;  ///< of this call
};

struct BenchmarkWatch {
  /// Told how far it is, one call at a time; `text` says what is being done.
  std::function<void(double part, const std::string& text)> progress = [](double,
                                                                          const std::string&) {};
  /// Asked again and again, from several threads; false: stop.
  std::function<bool()> keep_going = [] { return true; };
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Every method on every problem: tunes each on the same grid with the choosing seeds, then runs
/// the judging seeds at the rate that was best by `RateScore`, with the target of `targets_of` on
/// those seeds. A problem is judged as soon as all its methods are tuned. `options.jobs` stages are
/// worked on at a time, each by one thread; what comes out does not depend on how many, measured
/// seconds aside.
///
/// A run stops when its loss is within `finished` of the least known: nothing below is told apart.
///
/// Throws UsageError when a method fits none of the problems, unless it is one of the suite's.
Benchmark run_benchmark(const BenchmarkOptions& options, DataCache& data, const CellFiles& files,
                        const BenchmarkWatch& watch);
inline constexpr double finished = 1e-9;

/// The target of every seed as a loss, for the runs of all methods with these seeds:
///
///   best + tolerance (start - best)
///
/// with best the minimum of a test function, of other problems the lowest loss that any of the
/// runs with this seed reached (Moré and Wild, 2009, eq. 2.2). Minus infinity where none got below
/// the start.
std::vector<double> targets_of(const BenchmarkProblem& problem,
                               const std::vector<const std::vector<RecordedRun>*>& runs,
                               double tolerance);

}  // namespace symport::lab::benchmark
