// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/reproduce/experiment.hpp"
#include "lab/runs/run_record.hpp"

namespace symport::lab {

/// A run of an experiment with all its seeds.
struct RunResults {
  ExperimentRun run;
  std::vector<RunRecord> seeds;
};

/// An expectation, met or not.
struct Outcome {
  Expectation expected;
  double found = 0.0;
  bool met() const { return found >= expected.low && found <= expected.high; }
};

/// What came out of an experiment.
struct Reproduction {
  Experiment experiment;
  std::vector<RunResults> results;  ///< as experiment.runs
  std::vector<Outcome> outcomes;
  double seconds = 0.0;

  /// The quantity of the run of that name. NaN where a run does not get there.
  double number(const std::string& run, const Quantity& quantity) const;
  /// The quantity at every place of the method's axes, the last axis fastest.
  std::vector<double> numbers(std::size_t method, const Quantity& quantity) const;
};

struct ReproductionOptions {
  std::filesystem::path out;  ///< each run has a folder below out / experiment.name
  std::optional<std::string> data_directory = std::nullopt;
  /// Asked again and again; false: stop.
  std::function<bool()> keep_going = [] { return true; };
  /// Told when a run begins: "SGD, seed 1 (3 of 30)".
  std::function<void(const std::string&)> begins = [](const std::string&) {};
  /// Told what went wrong in a run that goes on all the same.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// The page of an experiment, below the directory of results.
std::string page_of(const Experiment& experiment);

/// Throws UsageError, naming `origin`, when the runs of an experiment have no place below `out`:
/// where the experiment itself is, behind a symbolic link, or where a run's files would replace
/// others.
void require_places(const Experiment& experiment, const std::filesystem::path& out,
                    const std::string& origin);
/// Removes the runs that an earlier `reproduce` left where those of the experiment will be.
void remove_earlier_runs(const Experiment& experiment, const std::filesystem::path& out);

/// Makes the runs that are not complete yet, writes them, and compares. As many runs at the same
/// time as the machine has processors; where times are reported one run computes while another is
/// written. Nothing when it was interrupted.
std::optional<Reproduction> reproduce(const Experiment& experiment, DataCache& data,
                                      const ReproductionOptions& options);

/// What numbers at places x come to; see `SweepReduction`.
double reduced(SweepReduction reduction, const std::vector<double>& x,
               const std::vector<double>& y);

}  // namespace symport::lab
