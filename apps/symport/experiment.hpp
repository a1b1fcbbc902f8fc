// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "symport/core/types.hpp"

namespace symport::cli {

/// One method of an experiment: the options of a command, all but the seed.
struct ExperimentRun {
  std::string name;
  Given options;

  /// The name as a file name: "SGD, kappa 2" becomes "sgd-kappa-2".
  std::string folder() const;
};

/// A number that an experiment should show.
struct Expectation {
  std::string run;
  std::string column;                      ///< of trace.csv: "train_loss", "seconds"
  std::optional<Index> at = std::nullopt;  ///< the row's step or epoch; unset: the last
  std::string relative_to = {};            ///< divided by the same number of this run
  enum class Statistic { median, mean, largest, smallest } statistic = Statistic::median;
  double low = 0.0, high = 0.0;  ///< both allowed
  std::string origin;            ///< "experiment.toml:40"

  /// "median train_loss of 'SGD' at 1"
  std::string text() const;
};

/// A figure to reproduce: methods, seeds, and what should come out.
struct Experiment {
  std::string name;  ///< of its directory
  std::string title;
  std::string see;      ///< what one should see, in a sentence
  std::string command;  ///< "train" or "optimize"
  std::string data;     ///< the data set that it needs fetched; empty: none
  std::vector<std::uint64_t> seeds;
  std::vector<ExperimentRun> runs;
  std::vector<Expectation> expectations;
};

/// The experiment in `directory`/`name`/experiment.toml, in its full or its quick form:
///
///   title, see, command, seeds   of the experiment
///   [options]                    of every run
///   [quick]                      options, and seeds, that replace those above in the quick form
///   [[run]]                      name, options; in its table `quick` those of the quick form
///   [[expect]]                   run, column, at, relative_to, statistic; `full` and `quick`: the
///                                interval [low, high] of each form; without one, not expected
///
/// Throws UsageError with file and line for anything else.
Experiment read_experiment(const std::filesystem::path& directory, const std::string& name,
                           bool quick);

/// The names of the experiments below a directory, sorted.
std::vector<std::string> experiment_names(const std::filesystem::path& directory);

}  // namespace symport::cli
