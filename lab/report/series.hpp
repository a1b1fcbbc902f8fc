// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/report/figure.hpp"
#include "lab/runs/run_record.hpp"

namespace symport::lab::report {

/// Runs of one specification, which differ in their seeds.
struct RunSeries {
  std::string name;  ///< what distinguishes it from the other series on its problem
  int colour = 0;
  std::vector<const RunRecord*> runs{};
  /// Those that figures show: without runs that diverged, unless all did.
  std::vector<const RunRecord*> drawn{};
  /// The run that is shown where one must stand for all: of the first seed with which no series on
  /// the problem diverges, if there is one.
  const RunRecord* example = nullptr;
  bool teleports = false;  ///< its schedule has a teleport
  /// All that its runs have in common, by name: not the seed, and not how to teleport where that
  /// never happens.
  std::map<std::string, std::string> options{};
  /// The options without all that concerns teleports: series with the same can be compared.
  std::string base{};

  const RunRecord& first() const { return *runs.front(); }
};

/// Series on the same problem, to be drawn into the same figures.
struct ProblemRuns {
  std::string title;
  std::vector<RunSeries> series{};

  const RunRecord& first() const { return series.front().first(); }
};

/// Whether a run diverged, or its loss once was a thousand times the first one.
bool diverged(const RunRecord& run);

/// Sorts runs by problem and specification. The runs must outlive the result.
std::vector<ProblemRuns> grouped(const std::vector<RunRecord>& runs);

/// The index (step or epoch) of every row that all drawn runs of the series have.
std::vector<double> common_rows(const RunSeries& series);

/// A column of the traces at the common rows: of one run the column itself, of several the mean and
/// a band of one standard deviation (n - 1) to either side. Where no run is negative
/// the band ends at the smallest run at the latest: a logarithmic axis has no place for zero.
struct Averaged {
  std::vector<double> mean;
  std::vector<double> lower, upper;  ///< empty for one run
};
Averaged averaged(const RunSeries& series, const std::string& column);

/// The column of every series against rows, seconds and (where recorded) evaluations; series whose
/// traces lack it are left out.
CurveFigure curves(const ProblemRuns& problem, const std::string& column, const Axis& y_axis);

/// The squared gradient of the example of each series against its loss.
CurveFigure gradient_against_loss(const ProblemRuns& problem);

}  // namespace symport::lab::report
