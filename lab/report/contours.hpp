// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "lab/report/figure.hpp"

namespace symport::lab::report {

/// A function's values at the corners of a regular grid over a box.
struct Grid {
  Box box;
  std::size_t columns = 0, rows = 0;  ///< of corners; at least 2 each
  std::vector<double> values;         ///< row by row, from box.low

  double value(std::size_t column, std::size_t row) const { return values[row * columns + column]; }
  Point corner(std::size_t column, std::size_t row) const;
};

Grid sample(const std::function<double(Point)>& function, const Box& box, std::size_t columns,
            std::size_t rows);

/// The lines on which the grid has the value `level`, by marching squares: crossings of the grid's
/// edges by linear interpolation (error O(h^2) for a smooth function), joined to polylines; a
/// closed one ends with its first point. In a cell with a saddle the mean of its corners decides.
/// Cells with a corner that is not finite have no line.
std::vector<Polyline> contour(const Grid& grid, double level);

/// `count` values in geometric progression that divide the grid's range well: between the 2nd and
/// the 98th percentile of what is above `minimum`. Empty when nothing is.
std::vector<double> contour_levels(const Grid& grid, double minimum, std::size_t count);

/// The polyline without the points that lie within `tolerance` of what remains (Douglas and
/// Peucker), distances measured after division by `unit` in each direction.
Polyline simplified(const Polyline& line, Point unit, double tolerance);

}  // namespace symport::lab::report
