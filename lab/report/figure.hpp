// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// What a report is made of, as plain data. Nothing here knows where the numbers come from, and
/// nothing that draws them computes any.
namespace symport::lab::report {

/// Colours of series: 0 is the grey of what is compared with, 1 to 6 are the others.
inline constexpr int palette_size = 7;

/// Whether a figure shows what it should.
enum class Verdict { as_expected, partly, not_confirmed, inconclusive };

/// One sentence: what one should see, and what one sees.
struct Finding {
  std::string text;
  Verdict verdict = Verdict::inconclusive;
};

struct Axis {
  std::string key;    ///< heading of its column in CSV files: "seconds"
  std::string label;  ///< with the unit: "time in seconds"
  bool logarithmic = false;
  bool whole = false;  ///< it counts: no ticks between whole numbers
  /// What is above has no place on the axis: a diverged run must not hide the others.
  double most = std::numeric_limits<double>::infinity();
  std::vector<double> ticks{};  ///< where they stand; empty: at round values
};

/// One curve of a figure. All its columns have the same length.
struct Series {
  std::string name;
  int colour = 0;                        ///< 0 to palette_size - 1
  std::vector<std::vector<double>> x{};  ///< one column for each horizontal axis of the figure
  std::vector<double> y{};
  std::vector<double> lower{}, upper{};  ///< of the shaded band; empty: no band
  std::vector<std::size_t> teleports{};  ///< positions of the points at which teleports happened
};

/// Curves that share a vertical axis, against one of several horizontal axes.
struct CurveFigure {
  std::string id;  ///< names its files and its place in the page
  std::string title;
  Finding finding;
  std::string note;
  std::vector<Axis> x_axes;  ///< the first is shown first
  Axis y_axis;
  std::vector<Series> series;
};

struct Point {
  double x = 0.0, y = 0.0;
  bool operator==(const Point&) const = default;
};
using Polyline = std::vector<Point>;

struct Box {
  Point low, high;
};

/// The lines on which a function has the value `level`.
struct LevelLine {
  double level = 0.0;
  bool of_a_teleport = false;  ///< a jump of some trajectory should stay on it
  std::vector<Polyline> lines{};
};

/// What a frame of a trajectory shows.
enum class Frame : unsigned char { step, before_teleport, after_teleport };

/// The way of one run, frame by frame. All columns have the same length.
struct Trajectory {
  std::string name;
  int colour = 0;
  std::vector<double> step{}, x{}, y{}, loss{};
  std::vector<Frame> kind{};
};

/// Trajectories over the level lines of a function of two variables.
struct LevelSetFigure {
  std::string id;
  std::string title;
  Finding finding;
  std::string note;
  Axis x_axis, y_axis;
  Box box;
  std::vector<LevelLine> levels;
  std::vector<Trajectory> trajectories;
  std::optional<Point> minimizer;
};

/// Numbers on a grid, coloured by their ratio to `middle`.
struct HeatMap {
  std::string id;
  std::string title;
  Finding finding;
  std::string note;
  Axis x_axis, y_axis;
  Axis value;                    ///< what the numbers are
  double middle = 1.0;           ///< larger numbers have one colour, smaller ones another
  std::vector<double> x, y;      ///< of the columns and the rows; rows go upwards
  std::vector<double> values{};  ///< > 0, row by row; what is not finite is marked as left out
};

}  // namespace symport::lab::report
