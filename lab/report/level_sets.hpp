// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "lab/report/figure.hpp"
#include "lab/report/series.hpp"

namespace symport::lab::report {

/// The way of a run on a function of two variables, with a frame of its own for the point before
/// each teleport.
Trajectory trajectory(const RunRecord& run);

/// The way of the example of each series over the function's level lines; nothing where the
/// problem is not about a named function of two variables.
std::optional<LevelSetFigure> level_sets(const ProblemRuns& problem);

}  // namespace symport::lab::report
