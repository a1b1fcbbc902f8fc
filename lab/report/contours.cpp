// SPDX-License-Identifier: MIT
#include "lab/report/contours.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace symport::lab::report {

namespace {

/// An edge of the grid by its lower corner and direction: what crossings are known by.
using Edge = std::uint64_t;

class Marcher {
 public:
  Marcher(const Grid& grid, double level) : grid_(grid), level_(level) {}

  std::vector<Polyline> lines() {
    for (std::size_t row = 0; row + 1 < grid_.rows; ++row) {
      for (std::size_t column = 0; column + 1 < grid_.columns; ++column) visit(column, row);
    }
    std::vector<Polyline> result;
    for (const Edge start : order_) {
      if (neighbours_[start].empty()) continue;
      std::deque<Edge> chain{start};
      follow(chain, false);
      follow(chain, true);
      Polyline line;
      for (const Edge edge : chain) line.push_back(crossing(edge));
      result.push_back(std::move(line));
    }
    return result;
  }

 private:
  Edge edge(std::size_t column, std::size_t row, bool upward) const {
    return 2 * (static_cast<Edge>(row) * grid_.columns + column) + (upward ? 1 : 0);
  }

  void visit(std::size_t column, std::size_t row) {
    const double corners[4] = {grid_.value(column, row), grid_.value(column + 1, row),
                               grid_.value(column + 1, row + 1), grid_.value(column, row + 1)};
    if (!std::all_of(std::begin(corners), std::end(corners),
                     [](double v) { return std::isfinite(v); })) {
      return;
    }
    // Edges bottom, right, top, left; one is crossed where its ends lie on different sides.
    const Edge edges[4] = {edge(column, row, false), edge(column + 1, row, true),
                           edge(column, row + 1, false), edge(column, row, true)};
    std::vector<int> crossed;
    for (int i = 0; i < 4; ++i) {
      if ((corners[i] >= level_) != (corners[(i + 1) % 4] >= level_)) crossed.push_back(i);
    }
    if (crossed.size() == 2) link(edges[crossed[0]], edges[crossed[1]]);
    if (crossed.size() == 4) {
      const double centre = (corners[0] + corners[1] + corners[2] + corners[3]) / 4.0;
      const bool with_first = (centre >= level_) == (corners[0] >= level_);
      // Where the centre belongs to corner 0 (and 2), corners 1 and 3 are cut off.
      link(edges[0], edges[with_first ? 1 : 3]);
      link(edges[2], edges[with_first ? 3 : 1]);
    }
  }

  void link(Edge a, Edge b) {
    for (const Edge e : {a, b}) {
      if (neighbours_.try_emplace(e).second) order_.push_back(e);
    }
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }

  /// Takes links away while it extends the chain at one of its ends.
  void follow(std::deque<Edge>& chain, bool front) {
    while (true) {
      const Edge here = front ? chain.front() : chain.back();
      std::vector<Edge>& next = neighbours_[here];
      if (next.empty()) return;
      const Edge there = next.back();
      next.pop_back();
      std::vector<Edge>& back = neighbours_[there];
      back.erase(std::find(back.begin(), back.end(), here));
      front ? chain.push_front(there) : chain.push_back(there);
    }
  }

  Point crossing(Edge e) const {
    const std::size_t corner = e / 2, column = corner % grid_.columns, row = corner / grid_.columns;
    const std::size_t column2 = column + (e % 2 == 0), row2 = row + (e % 2 == 1);
    const double from = grid_.value(column, row), to = grid_.value(column2, row2);
    const double part = (level_ - from) / (to - from);
    const Point a = grid_.corner(column, row), b = grid_.corner(column2, row2);
    return {a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)};
  }

  const Grid& grid_;
  double level_;
  std::unordered_map<Edge, std::vector<Edge>> neighbours_;
  std::vector<Edge> order_;  ///< in which they were met: the same lines every time
};

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double part =
      length > 0.0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - part * dx, p.y - a.y - part * dy);
}

}  // namespace

Point Grid::corner(std::size_t column, std::size_t row) const {
  const double u = static_cast<double>(column) / static_cast<double>(columns - 1);
  const double v = static_cast<double>(row) / static_cast<double>(rows - 1);
  return {box.low.x + u * (box.high.x - box.low.x), box.low.y + v * (box.high.y - box.low.y)};
}

Grid sample(const std::function<double(Point)>& function, const Box& box, std::size_t columns,
            std::size_t rows) {
  Grid grid{box, columns, rows, {}};
  grid.values.reserve(columns * rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      grid.values.push_back(function(grid.corner(column, row)));
    }
  }
  return grid;
}

std::vector<Polyline> contour(const Grid& grid, double level) {
  return Marcher(grid, level).lines();
}

std::vector<double> contour_levels(const Grid& grid, double minimum, std::size_t count) {
  std::vector<double> heights;
  for (const double value : grid.values) {
    if (std::isfinite(value) && value > minimum) heights.push_back(value - minimum);
  }
  if (heights.empty() || count == 0) return {};
  std::sort(heights.begin(), heights.end());
  const auto percentile = [&](double part) {
    return heights[static_cast<std::size_t>(part * static_cast<double>(heights.size() - 1))];
  };
  const double low = percentile(0.02), high = percentile(0.98);
  std::vector<double> levels;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    levels.push_back(minimum + low * std::pow(high / low, part));
  }
  return levels;
}

Polyline simplified(const Polyline& line, Point unit, double tolerance) {
  if (line.size() < 3) return line;
  const auto scaled = [&](const Point& p) { return Point{p.x / unit.x, p.y / unit.y}; };
  std::vector<bool> kept(line.size(), false);
  kept.front() = kept.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, line.size() - 1}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    double farthest = tolerance;
    std::size_t at = first;
    for (std::size_t i = first + 1; i < last; ++i) {
      const double d =
          distance_to_segment(scaled(line[i]), scaled(line[first]), scaled(line[last]));
      if (d > farthest) farthest = d, at = i;
    }
    if (at == first) continue;
    kept[at] = true;
    open.emplace_back(first, at);
    open.emplace_back(at, last);
  }
  Polyline result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (kept[i]) result.push_back(line[i]);
  }
  return result;
}

}  // namespace symport::lab::report
