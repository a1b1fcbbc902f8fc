// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/runs/run_config.hpp"
#include "symport/core/types.hpp"

namespace symport::lab {

/// Values along which methods are repeated: widths, learning rates.
struct SweepAxis {
  std::string name;   ///< "width"
  std::string label;  ///< with the unit, under an axis
  bool logarithmic = true;
  std::vector<double> values;
};

/// One method of an experiment.
struct ExperimentMethod {
  std::string name;
  std::string panel{};  ///< the section of the page that it belongs to; empty: all
  /// Along which it is repeated; at most two: columns first, rows second.
  std::vector<std::size_t> axes{};
};

/// A method at one place of its axes.
struct ExperimentRun {
  std::string name;
  RunSpec spec{};  ///< all but the seed
  std::size_t method = 0;
  std::vector<std::size_t> place{};  ///< which value of each of the method's axes
  Arguments given{};                 ///< what the file says, for messages
};

enum class Statistic { median, mean, largest, smallest };
std::string_view to_string(Statistic statistic);

/// A number that can be told of a run, or of one run for every seed.
struct Quantity {
  /// Of trace.csv ("train_loss", "seconds"); of the certificates ("drift" is the largest of the
  /// accepted teleports, "accepted" their number); or "completed", 0 for a run that
  /// diverged and 1 for others.
  std::string column;
  bool in_trace() const {
    return column != "drift" && column != "accepted" && column != "completed";
  }
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
enum class SweepReduction {
  none,             ///< one number, no axis
  exponent,         ///< the slope of log y against log x, by least squares
  linearity,        ///< R^2 of the straight line through (x, y)
  largest,          ///< of those that there are
  share_above_one,  ///< of those that there are
  share_missing,    ///< not finite, or 0
};
std::string_view to_string(SweepReduction reduction);

/// A number that an experiment should show.
struct Expectation {
  std::string run;  ///< or a method with axes
  Quantity quantity{};
  SweepReduction reduction = SweepReduction::none;
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
  std::string data;                ///< the data set that it needs fetched; empty: none
  bool clock = false;              ///< it reports times: its runs are made one after the other
  std::string text;                ///< the file
  std::vector<std::string> shown;  ///< figures of its page; empty: all
  std::vector<std::uint64_t> seeds;
  std::vector<SweepAxis> axes;
  std::vector<ExperimentMethod> methods;
  std::vector<ExperimentRun> runs;
  std::vector<SweepFigure> figures;
  std::vector<Expectation> expectations;
};

}  // namespace symport::lab
