// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/contours.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"
#include "lab/report/svg_frame.hpp"

namespace symport::lab::report {

namespace {

constexpr double map_height = 468;

constexpr std::string_view level_colour = "#51677b";

/// Level lines from deep to high: strong to faint.
std::string level_opacity(std::size_t index, std::size_t count) {
  const double part = count > 1 ? static_cast<double>(index) / static_cast<double>(count - 1) : 0.0;
  return coordinate(0.85 - 0.6 * part);
}

/// A run's way in pixels, without the points that are nearer than half a pixel to the one before.
std::vector<std::vector<std::size_t>> ordinary_pieces(const Trajectory& way,
                                                      const std::vector<Point>& at) {
  std::vector<std::vector<std::size_t>> pieces(1);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!std::isfinite(at[i].x) || !std::isfinite(at[i].y)) break;
    if (way.kind[i] == Frame::after_teleport) pieces.emplace_back();
    auto& piece = pieces.back();
    const bool ends = i + 1 == at.size() || way.kind[i + 1] == Frame::after_teleport;
    if (piece.empty() || ends ||
        std::hypot(at[i].x - at[piece.back()].x, at[i].y - at[piece.back()].y) >= 0.5) {
      piece.push_back(i);
    }
  }
  return pieces;
}

void draw_axes(Svg& svg, const LevelSetFigure& figure, const PlotArea& area, const Scale& x_scale,
               const Scale& y_scale) {
  for (const Tick& tick : x_scale.ticks(8)) {
    const std::string x = coordinate(x_scale(tick.value));
    svg.element("line", {{"class", "axis"},
                         {"x1", x},
                         {"x2", x},
                         {"y1", coordinate(area.bottom)},
                         {"y2", coordinate(area.bottom + 5)},
                         {"stroke", std::string(soft_ink)}});
    svg.text(x_scale(tick.value), area.bottom + 20, tick.label, {{"text-anchor", "middle"}});
  }
  for (const Tick& tick : y_scale.ticks(7)) {
    const std::string y = coordinate(y_scale(tick.value));
    svg.element("line", {{"class", "axis"},
                         {"x1", coordinate(area.left - 5)},
                         {"x2", coordinate(area.left)},
                         {"y1", y},
                         {"y2", y},
                         {"stroke", std::string(soft_ink)}});
    svg.text(area.left - 9, y_scale(tick.value) + 4, tick.label, {{"text-anchor", "end"}});
  }
  svg.element("rect", {{"class", "axis"},
                       {"x", coordinate(area.left)},
                       {"y", coordinate(area.top)},
                       {"width", coordinate(area.right - area.left)},
                       {"height", coordinate(area.bottom - area.top)},
                       {"fill", "none"},
                       {"stroke", std::string(soft_ink)}});
  svg.text((area.left + area.right) / 2, area.bottom + 42, figure.x_axis.label,
           {{"text-anchor", "middle"}, {"fill", std::string(ink)}});
  svg.text(
      0, 0, figure.y_axis.label,
      {{"text-anchor", "middle"},
       {"fill", std::string(ink)},
       {"transform", fmt::format("translate(18 {}) rotate(-90)", (area.top + area.bottom) / 2)}});
}

void draw_levels(Svg& svg, const LevelSetFigure& figure, const Scale& x_scale,
                 const Scale& y_scale) {
  std::size_t ordinary = 0, index = 0;
  for (const LevelLine& level : figure.levels) ordinary += level.of_a_teleport ? 0 : 1;
  for (const LevelLine& level : figure.levels) {
    std::string path;
    for (const Polyline& line : level.lines) {
      Polyline pixels;
      for (const Point& p : line) pixels.push_back({x_scale(p.x), y_scale(p.y)});
      path += path_of(simplified(pixels, {1, 1}, 0.15));
    }
    if (path.empty()) continue;
    svg.element(
        "path",
        {{"class", level.of_a_teleport ? "orbit" : "level"},
         {"d", path},
         {"fill", "none"},
         {"stroke", std::string(level.of_a_teleport ? teleport_colour : level_colour)},
         {"stroke-width", "1"},
         {"stroke-opacity", level.of_a_teleport ? "0.55" : level_opacity(index, ordinary)}});
    index += level.of_a_teleport ? 0 : 1;
  }
}

/// `stroke` is wider for those below, so that ways on the same line all show.
void draw_way(Svg& svg, const Trajectory& way, const std::vector<Point>& at, double stroke,
              const std::string& arrow) {
  const std::string colour(series_colour(way.colour));
  std::size_t drawn = 0;
  std::string path;
  for (const auto& piece : ordinary_pieces(way, at)) {
    Polyline line;
    for (const std::size_t i : piece) line.push_back(at[i]);
    path += path_of(line);
    drawn += line.size();
  }
  svg.element("path", {{"class", fmt::format("way s{}", way.colour)},
                       {"d", path},
                       {"fill", "none"},
                       {"stroke", colour},
                       {"stroke-width", coordinate(stroke)},
                       {"stroke-linejoin", "round"}});
  if (drawn <= 60) {
    for (const Point& p : at) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) break;
      svg.element("circle", {{"class", fmt::format("dot s{}", way.colour)},
                             {"cx", coordinate(p.x)},
                             {"cy", coordinate(p.y)},
                             {"r", coordinate(1.4 + stroke / 2)},
                             {"fill", colour}});
    }
  }
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (way.kind[i] != Frame::after_teleport || !std::isfinite(at[i].x + at[i].y)) continue;
    Svg::Attributes look{{"class", "jump"},
                         {"d", path_of({at[i - 1], at[i]})},
                         {"fill", "none"},
                         {"stroke", std::string(teleport_colour)},
                         {"stroke-width", "2"}};
    if (std::hypot(at[i].x - at[i - 1].x, at[i].y - at[i - 1].y) > 8) {
      look.emplace_back("marker-end", "url(#" + arrow + ")");
    }
    svg.element("path", look);
  }
}

struct LevelSetItem {
  std::string text, colour, look;
  LegendPlace place{};
};

std::vector<LevelSetItem> legend_of(const LevelSetFigure& figure) {
  std::vector<LevelSetItem> items;
  bool jumps = false;
  for (const Trajectory& way : figure.trajectories) {
    items.push_back(
        {way.name, std::string(series_colour(way.colour)), fmt::format("way s{}", way.colour)});
    jumps = jumps || std::count(way.kind.begin(), way.kind.end(), Frame::after_teleport) > 0;
  }
  if (jumps) items.push_back({"teleport", std::string(teleport_colour), "jump"});
  std::vector<std::string> texts;
  for (const LevelSetItem& item : items) texts.push_back(item.text);
  const std::vector<LegendPlace> places = legend_places(texts, left, right);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].place = places[i];
  return items;
}

}  // namespace

PlotArea level_set_area(const LevelSetFigure& figure) {
  const std::vector<LevelSetItem> items = legend_of(figure);
  const double top = 20 + 20 * (items.empty() ? 0.0 : items.back().place.row + 1.0);
  return {left, top, right, top + map_height};
}

std::string level_set_svg(const LevelSetFigure& figure) {
  const PlotArea area = level_set_area(figure);
  const Scale x_scale(figure.box.low.x, figure.box.high.x, area.left, area.right, false);
  const Scale y_scale(figure.box.low.y, figure.box.high.y, area.bottom, area.top, false);
  Svg svg(width, area.bottom + 52, figure.title + ": " + figure.finding.text);

  svg.open("g", {{"class", "legend"}});
  for (const LevelSetItem& item : legend_of(figure)) {
    const double x = item.place.x, y = 16 + 20 * item.place.row;
    svg.element("line", {{"class", item.look},
                         {"x1", coordinate(x)},
                         {"x2", coordinate(x + 20)},
                         {"y1", coordinate(y)},
                         {"y2", coordinate(y)},
                         {"stroke", item.colour},
                         {"stroke-width", "2.4"}});
    svg.text(x + 26, y + 4, item.text, {{"fill", std::string(ink)}});
  }
  svg.close("g");

  const std::string clip = figure.id + "-clip", arrow = figure.id + "-arrow";
  svg.open("defs", {});
  svg.open("clipPath", {{"id", clip}});
  svg.element("rect", {{"x", coordinate(area.left)},
                       {"y", coordinate(area.top)},
                       {"width", coordinate(area.right - area.left)},
                       {"height", coordinate(area.bottom - area.top)}});
  svg.close("clipPath");
  svg.open("marker", {{"id", arrow},
                      {"viewBox", "0 0 10 10"},
                      {"refX", "8"},
                      {"refY", "5"},
                      {"markerWidth", "5"},
                      {"markerHeight", "5"},
                      {"orient", "auto"}});
  svg.element(
      "path",
      {{"class", "arrow"}, {"d", "M0 0L10 5L0 10Z"}, {"fill", std::string(teleport_colour)}});
  svg.close("marker");
  svg.close("defs");

  svg.open("g", {{"clip-path", "url(#" + clip + ")"}});
  draw_levels(svg, figure, x_scale, y_scale);
  for (std::size_t i = 0; i < figure.trajectories.size(); ++i) {
    const Trajectory& way = figure.trajectories[i];
    std::vector<Point> at(way.x.size());
    // A diverged run goes farther than SVG has numbers for; what is outside is clipped anyway.
    const auto pixel = [](double value) { return std::clamp(value, -1e5, 1e5); };
    for (std::size_t k = 0; k < at.size(); ++k) {
      at[k] = {pixel(x_scale(way.x[k])), pixel(y_scale(way.y[k]))};
    }
    svg.open("g", {{"class", "trajectory"}, {"data-trajectory", std::to_string(i)}});
    const auto above = static_cast<double>(figure.trajectories.size() - 1 - i);
    draw_way(svg, way, at, 2.0 + std::min(1.2 * above, 3.6), arrow);
    svg.close("g");
  }
  if (figure.minimizer) {
    const double mx = x_scale(figure.minimizer->x), my = y_scale(figure.minimizer->y);
    svg.element("path",
                {{"class", "minimum"},
                 {"d", fmt::format("M{0} {2}L{1} {3}M{0} {3}L{1} {2}", coordinate(mx - 5),
                                   coordinate(mx + 5), coordinate(my - 5), coordinate(my + 5))},
                 {"fill", "none"},
                 {"stroke", std::string(ink)},
                 {"stroke-width", "2"}});
  }
  svg.close("g");
  draw_axes(svg, figure, area, x_scale, y_scale);
  return std::move(svg).finished();
}

}  // namespace symport::lab::report
