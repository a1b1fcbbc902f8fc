// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/options/given.hpp"
#include "symport/core/types.hpp"

namespace symport::lab {

inline constexpr const char* experiment_file_name = "experiment.toml";

/// Values along which methods are repeated: widths, learning rates.
struct SweepAxis {
  std::string name;   ///< "width"
  std::string label;  ///< with the unit, under an axis
  bool logarithmic = true;
  std::vector<double> values;
  std::vector<Given> options;  ///< what each value sets
};

/// One method of an experiment.
struct Method {
  std::string name;
  std::string panel{};  ///< the section of the page that it belongs to; empty: all
  std::vector<std::size_t>
      axes{};  ///< along which it is repeated; at most two: columns first, rows second
};

/// A method at one place of its axes: the options of a command, all but the seed.
struct ExperimentRun {
  std::string name;
  Given options;
  std::size_t method = 0;
  std::vector<std::size_t> place{};  ///< which value of each of the method's axes

  /// The name as a file name, which is never "." or "..": "SGD, kappa 2" becomes "sgd-kappa-2".
  std::string folder() const;
};

enum class Statistic { median, mean, largest, smallest };
std::string_view to_string(Statistic statistic);

/// A number that can be told of a run, or of one run for every seed.
struct Quantity {
  /// Of trace.csv ("train_loss", "seconds"), or of the certificates: "drift" is the largest of the
  /// accepted teleports, "accepted" their number.
  std::string column;
  /// Which row; none of them: the last.
  std::optional<Index> at = std::nullopt;          ///< that of this step or epoch
  std::optional<double> at_loss = std::nullopt;    ///< the first whose loss is at most this
  std::optional<double> at_change = std::nullopt;  ///< the first whose loss is so near the last one
  /// Divided by the same number of this run, seed by seed.
  std::string relative_to = {};
  /// The same number of this run divided by it; one that never gets there is infinitely slow: 0.
  std::string speed_up_over = {};
  Statistic statistic = Statistic::median;

  /// "median train_loss" and where; `run` as the sentence calls it.
  std::string text(const std::string& run) const;
};

/// What the numbers along a method's axes come to.
enum class Reduction {
  none,             ///< one number, no axis
  exponent,         ///< the slope of log y against log x, by least squares
  linearity,        ///< R^2 of the straight line through (x, y)
  largest,          ///< of those that there are
  share_above_one,  ///< of those that there are
  share_missing,    ///< not finite, or 0
};
std::string_view to_string(Reduction reduction);

/// A number that an experiment should show.
struct Expectation {
  std::string run;  ///< or a method with axes
  Quantity quantity{};
  Reduction reduction = Reduction::none;
  double low = 0.0, high = 0.0;  ///< both allowed
  std::string origin;            ///< "experiment.toml:40"

  /// "median train_loss of 'SGD' at 1"
  std::string text() const;
};

/// A figure of a number along the methods' axes: curves for one axis, a map for each method of two.
struct SweepFigure {
  std::string id;
  std::string title;
  std::string see;    ///< what one should see, in a sentence
  std::string label;  ///< of the number
  bool logarithmic = true;
  std::vector<std::size_t> methods;
  Quantity quantity{};
};

/// A figure to reproduce: methods, seeds, and what should come out.
struct Experiment {
  std::string name;  ///< of its directory
  std::string title;
  std::string see;                 ///< what one should see, in a sentence
  std::string command;             ///< "train" or "optimize"
  std::string data;                ///< the data set that it needs fetched; empty: none
  bool clock = false;              ///< it reports times: its runs are made one after the other
  std::string text;                ///< the file
  std::vector<std::string> shown;  ///< figures of its page; empty: all
  std::vector<std::uint64_t> seeds;
  std::vector<SweepAxis> axes;
  std::vector<Method> methods;
  std::vector<ExperimentRun> runs;
  std::vector<SweepFigure> figures;
  std::vector<Expectation> expectations;
};

/// The experiment in `directory`/`name`/experiment.toml, in its full or its quick form:
///
///   title, see, command, seeds   of the experiment; `clock`: it reports times; `show`: the ids of
///                                the figures that its page has (default: all)
///   [options]                    of every run
///   [quick]                      options, and seeds, that replace those above in the quick form
///   [axis.NAME]                  label, linear, values; `quick`: those of the quick form; every
///                                other key is an option with one entry for each value
///   [[run]]                      name, options; in its table `quick` those of the quick form;
///                                `over`: the names of one or two axes; `panel`: the section of the
///                                page that shows it (default: all of them)
///   [[figure]]                   id, title, see, label, linear, runs (with axes), and a quantity
///   [[expect]]                   run, a quantity, `reduce` (of a run with axes); `full`, `quick`:
///                                the interval [low, high] of each form; without one, not expected
///
/// A quantity is column, at, at_loss, at_change, relative_to, speed_up_over, statistic. Throws
/// UsageError with file and line for anything else.
Experiment read_experiment(const std::filesystem::path& directory, const std::string& name,
                           bool quick);

/// The names of the experiments below a directory, sorted.
std::vector<std::string> experiment_names(const std::filesystem::path& directory);

}  // namespace symport::lab
