// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "lab/report/figure.hpp"

namespace symport::lab::report {

/// Which points of a curve to draw: of those that fall into the same column of pixels the first,
/// the lowest, the highest and the last, in their order. x and y are in pixels, x does not
/// decrease; a point whose x or y is not finite is left out and begins a new piece.
std::vector<std::vector<std::size_t>> pieces_to_draw(const std::vector<double>& x,
                                                     const std::vector<double>& y);

/// A page has room for this many points of a curve or trajectory.
inline constexpr std::size_t most_points = 4000;

/// Leaves about `most` points of every longer series, so that it looks the same: in equal parts of
/// it the first and last points and the extremes, what is not finite, and the points beside a
/// teleport, as long as there are not too many of these. The note says so.
void thin(CurveFigure& figure, std::size_t most = most_points);
/// The same for trajectories.
void thin(LevelSetFigure& figure, std::size_t most = most_points);

}  // namespace symport::lab::report
