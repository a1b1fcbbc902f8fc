// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "lab/report/figure.hpp"
#include "lab/report/series.hpp"
#include "symport/objectives/objective.hpp"

namespace symport::lab::report {

/// The way of a run on a function of two variables, with a frame of its own for the point before
/// each teleport. A trace has only the point after it; the point before is the start, or one step
/// of gradient descent from the row before, and is taken only if its loss is the one that the
/// certificate gives. Else the frame is missing, and the jump begins at the last row.
Trajectory trajectory(const RunRecord& run, const Objective& function);

/// The way of the example of each series over the function's level lines; nothing where the
/// problem is not about a named function of two variables.
std::optional<LevelSetFigure> level_sets(const ProblemRuns& problem);

}  // namespace symport::lab::report
