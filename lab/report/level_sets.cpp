// SPDX-License-Identifier: MIT
#include "lab/report/level_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lab/options/registry.hpp"
#include "lab/report/contours.hpp"
#include "lab/report/sentences.hpp"
#include "lab/text/errors.hpp"
#include "symport/search/teleport.hpp"

namespace symport::lab::report {

namespace {

constexpr std::size_t grid_size = 240, level_count = 14, teleport_lines = 4;

/// Around everything worth seeing: points of no more than ten times the highest starting loss.
Box box_around(const std::vector<Trajectory>& ways, Point minimizer) {
  double highest = 0.0;
  for (const Trajectory& way : ways) highest = std::max(highest, 10.0 * std::abs(way.loss.front()));
  Box box{minimizer, minimizer};
  const auto include = [&](Point p) {
    box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
    box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
  };
  for (const Trajectory& way : ways) {
    for (std::size_t i = 0; i < way.x.size(); ++i) {
      const bool finite = std::isfinite(way.x[i]) && std::isfinite(way.y[i]);
      if (finite && std::abs(way.loss[i]) <= highest) include({way.x[i], way.y[i]});
    }
  }
  const double x = box.high.x - box.low.x, y = box.high.y - box.low.y, larger = std::max(x, y);
  const auto room = [&](double side) {
    return 0.1 * side + (side < 0.2 * larger ? 0.15 * larger : 0.0) + (larger == 0.0 ? 1.0 : 0.0);
  };
  box.low = {box.low.x - room(x), box.low.y - room(y)};
  box.high = {box.high.x + room(x), box.high.y + room(y)};
  return box;
}

/// The lowest value that is known of a function without a known minimum.
double lowest(const Grid& grid, const std::vector<Trajectory>& ways) {
  double least = std::numeric_limits<double>::infinity();
  const auto look = [&](double value) {
    if (std::isfinite(value)) least = std::min(least, value);
  };
  for (const double value : grid.values) look(value);
  for (const Trajectory& way : ways) std::for_each(way.loss.begin(), way.loss.end(), look);
  return std::isfinite(least) ? least : 0.0;
}

std::vector<LevelLine> level_lines(const Grid& grid, double minimum,
                                   const std::vector<Trajectory>& ways) {
  std::vector<LevelLine> levels;
  for (const double level : contour_levels(grid, minimum, level_count)) {
    levels.push_back({level, false, contour(grid, level)});
  }
  std::size_t count = 0;
  for (const Trajectory& way : ways) {
    for (std::size_t i = 0; i < way.kind.size() && count < teleport_lines; ++i) {
      if (way.kind[i] != Frame::after_teleport) continue;
      std::vector<Polyline> lines = contour(grid, way.loss[i]);
      if (lines.empty()) continue;
      levels.push_back({way.loss[i], true, std::move(lines)});
      ++count;
    }
  }
  return levels;
}

}  // namespace

Trajectory trajectory(const RunRecord& run) {
  const TraceColumns& trace = run.trace;
  const std::vector<double>&steps = trace["step"], &x1 = trace["x1"], &x2 = trace["x2"];
  std::map<double, const TraceTeleport*> accepted;
  for (const TraceTeleport& jump : run.jumps) {
    if (jump.accepted) accepted[static_cast<double>(jump.step)] = &jump;
  }
  Trajectory way;
  const auto add = [&](double step, double x, double y, double loss, Frame kind) {
    way.step.push_back(step);
    way.x.push_back(x);
    way.y.push_back(y);
    way.loss.push_back(loss);
    way.kind.push_back(kind);
  };
  for (std::size_t row = 0; row < trace.rows(); ++row) {
    const double step = steps[row];
    const auto teleport = accepted.find(step);
    Frame kind = Frame::step;
    if (teleport != accepted.end()) {
      kind = Frame::after_teleport;
      const TraceTeleport& jump = *teleport->second;
      add(step, jump.before[0], jump.before[1], jump.loss_before, Frame::before_teleport);
    }
    add(step, x1[row], x2[row], trace.loss()[row], kind);
  }
  return way;
}

std::optional<LevelSetFigure> level_sets(const ProblemRuns& problem) {
  const RunRecord& first = problem.first();
  const auto* spec = std::get_if<FunctionRunSpec>(&first.spec);
  if (spec == nullptr || !first.trace.has("x2") || first.trace.has("x3")) return {};
  if (is_own_name(spec->function)) return {};  // nobody here can evaluate it
  const std::string origin = (first.directory / "config.toml").string() + ": function";
  const FunctionProblem named = with_origin(origin, [&] { return make_problem(spec->function); });
  const TestFunction& function = *named.function;
  if (function.dimension() != 2) {
    throw UsageError(origin, fmt::format("found '{}' of {} variables, but trace.csv has 2",
                                         named.specification, function.dimension()));
  }
  const auto value = [&](Point p) { return function.value(Vector{{p.x, p.y}}); };

  LevelSetFigure figure;
  const Vector minimizer = function.minimizer();
  const bool known = minimizer.allFinite();  // not that of a formula
  if (known) figure.minimizer = Point{minimizer[0], minimizer[1]};
  double nearest = std::numeric_limits<double>::infinity();
  bool several = false;
  for (const RunSeries& series : problem.series) {
    if (!series.example->trace.has("x2")) continue;
    Trajectory way = trajectory(*series.example);
    way.name = series.name;
    way.colour = series.colour;
    several = several || series.runs.size() > 1;
    const double distance = std::hypot(way.x.back() - minimizer[0], way.y.back() - minimizer[1]);
    if (distance < nearest) nearest = distance;
    figure.trajectories.push_back(std::move(way));
  }
  figure.title = "Trajectories on level sets";
  figure.x_axis = {"x1", "x₁"};
  figure.y_axis = {"x2", "x₂"};
  if (!known && figure.trajectories.empty()) return {};
  const Trajectory* way = figure.trajectories.empty() ? nullptr : &figure.trajectories.front();
  figure.box = box_around(figure.trajectories,
                          known ? *figure.minimizer : Point{way->x.front(), way->y.front()});
  const Grid grid = sample(value, figure.box, grid_size, grid_size);
  figure.levels = level_lines(grid, known ? function.minimum() : lowest(grid, figure.trajectories),
                              figure.trajectories);
  figure.finding = level_finding(problem, default_drift_tolerance<double>(), nearest);
  figure.note = known
                    ? fmt::format("{} = {}; level lines in equal ratios, the cross is the minimum.",
                                  named.specification, function.formula())
                    : fmt::format("{}; level lines in equal ratios.", function.formula());
  if (several)
    figure.note += fmt::format(" Of each series the run of seed {} is drawn.",
                               problem.series.front().example->seed());
  return figure;
}

}  // namespace symport::lab::report
