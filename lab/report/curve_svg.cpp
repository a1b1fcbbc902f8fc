// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lab/report/decimation.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"
#include "lab/report/svg_frame.hpp"

namespace symport::lab::report {

namespace {

constexpr double plot_height = 320, line_height = 20;

struct Item {
  std::string text;
  std::string colour;
  std::string look;  ///< its class
  bool dot;
};

std::vector<Item> legend_of(const CurveFigure& figure) {
  std::vector<Item> items;
  bool teleports = false;
  for (const Series& series : figure.series) {
    items.push_back({series.name, std::string(series_colour(series.colour)),
                     fmt::format("curve s{}", series.colour), false});
    teleports = teleports || !series.teleports.empty();
  }
  if (teleports) items.push_back({"teleport", std::string(teleport_colour), "teleport", true});
  return items;
}

struct Placed {
  Item item;
  double x, row;
};

std::vector<Placed> placed(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(item.text);
  const std::vector<LegendPlace> places = legend_places(texts, left, right);
  std::vector<Placed> result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    result.push_back({items[i], places[i].x, places[i].row});
  }
  return result;
}

std::vector<double> all_values(const CurveFigure& figure) {
  std::vector<double> values;
  for (const Series& series : figure.series) {
    for (const auto* column : {&series.y, &series.lower, &series.upper}) {
      std::copy_if(column->begin(), column->end(), std::back_inserter(values),
                   [&](double value) { return value <= figure.y_axis.most; });
    }
  }
  return values;
}

std::vector<double> mapped(const std::vector<double>& values, const Scale& scale) {
  std::vector<double> pixels(values.size());
  std::transform(values.begin(), values.end(), pixels.begin(),
                 [&](double value) { return std::clamp(scale(value), -1e5, 1e5); });
  return pixels;
}

bool ascending(const std::vector<double>& values) {
  return std::is_sorted(values.begin(), values.end());
}

/// The pieces of a curve; one against an axis that goes back and forth is drawn point by point.
std::vector<std::vector<std::size_t>> pieces(const std::vector<double>& x,
                                             const std::vector<double>& y) {
  if (ascending(x)) return pieces_to_draw(x, y);
  std::vector<std::vector<std::size_t>> result(1);
  Point last{-1e9, -1e9};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      if (!result.back().empty()) result.emplace_back();
    } else if (std::hypot(x[i] - last.x, y[i] - last.y) >= 0.5 || result.back().empty()) {
      result.back().push_back(i);
      last = {x[i], y[i]};
    }
  }
  return result;
}

void draw_band(Svg& svg, const Series& series, const std::vector<double>& x, const Scale& y_scale) {
  if (series.lower.empty()) return;
  std::vector<double> low = mapped(series.lower, y_scale), high = mapped(series.upper, y_scale);
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (std::isnan(low[i] + high[i])) low[i] = high[i] = std::nan("");
  }
  const auto above = pieces(x, high), below = pieces(x, low);
  for (std::size_t piece = 0; piece < above.size(); ++piece) {
    Polyline outline;
    for (const std::size_t i : above[piece]) outline.push_back({x[i], high[i]});
    for (auto i = below[piece].rbegin(); i != below[piece].rend(); ++i) {
      outline.push_back({x[*i], low[*i]});
    }
    svg.element("path", {{"class", fmt::format("band s{}", series.colour)},
                         {"d", path_of(outline) + "Z"},
                         {"fill", std::string(series_colour(series.colour))},
                         {"fill-opacity", "0.16"}});
  }
}

void draw_line(Svg& svg, const Series& series, const std::vector<double>& x,
               const std::vector<double>& y) {
  for (const auto& piece : pieces(x, y)) {
    Polyline line;
    for (const std::size_t i : piece) line.push_back({x[i], y[i]});
    if (line.empty()) continue;
    if (line.size() == 1) line.push_back(line.front());
    svg.element("path", {{"class", fmt::format("curve s{}", series.colour)},
                         {"d", path_of(line)},
                         {"fill", "none"},
                         {"stroke", std::string(series_colour(series.colour))},
                         {"stroke-width", "1.8"},
                         {"stroke-linejoin", "round"},
                         {"stroke-linecap", "round"}});
  }
}

/// Few points are marked: a line alone does not say where they are.
void draw_points(Svg& svg, const Series& series, const std::vector<double>& x,
                 const std::vector<double>& y) {
  if (x.size() > 20) return;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    svg.element("circle", {{"class", fmt::format("dot s{}", series.colour)},
                           {"cx", coordinate(x[i])},
                           {"cy", coordinate(y[i])},
                           {"r", "2.4"},
                           {"fill", std::string(series_colour(series.colour))}});
  }
}

void draw_teleports(Svg& svg, const Series& series, const std::vector<double>& x,
                    const std::vector<double>& y) {
  Point last{-1e9, -1e9};
  for (const std::size_t i : series.teleports) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    if (std::hypot(x[i] - last.x, y[i] - last.y) < 3) continue;
    last = {x[i], y[i]};
    svg.element("circle", {{"class", "teleport"},
                           {"cx", coordinate(x[i])},
                           {"cy", coordinate(y[i])},
                           {"r", "3.2"},
                           {"fill", std::string(teleport_colour)},
                           {"stroke", "#ffffff"},
                           {"stroke-width", "1"}});
  }
}

}  // namespace

std::string curve_svg(const CurveFigure& figure, std::size_t x_axis) {
  const std::vector<Placed> legend = placed(legend_of(figure));
  const double rows = legend.empty() ? 0 : legend.back().row + 1;
  const double top = 14 + rows * line_height, bottom = top + plot_height;
  const Axis& horizontal = figure.x_axes.at(x_axis);

  std::vector<double> all_x;
  for (const Series& series : figure.series) {
    std::copy_if(series.x[x_axis].begin(), series.x[x_axis].end(), std::back_inserter(all_x),
                 [&](double value) { return value <= horizontal.most; });
  }
  const Scale x_scale = Scale::around(all_x, left, right, horizontal.logarithmic, true);
  const Scale y_scale = Scale::around(all_values(figure), bottom, top, figure.y_axis.logarithmic);

  Svg svg(width, bottom + 52, figure.title + ": " + figure.finding.text);
  for (const Placed& entry : legend) {
    const double y = 16 + entry.row * line_height;
    if (entry.item.dot) {
      svg.element("circle", {{"class", entry.item.look},
                             {"cx", coordinate(entry.x + 12)},
                             {"cy", coordinate(y - 4)},
                             {"r", "3.2"},
                             {"fill", entry.item.colour}});
    } else {
      svg.element("line", {{"class", entry.item.look},
                           {"x1", coordinate(entry.x)},
                           {"x2", coordinate(entry.x + 20)},
                           {"y1", coordinate(y - 4)},
                           {"y2", coordinate(y - 4)},
                           {"stroke", entry.item.colour},
                           {"stroke-width", "2.4"}});
    }
    svg.text(entry.x + 26, y, entry.item.text, {{"fill", std::string(ink)}});
  }
  for (const Tick& tick : y_scale.ticks(7)) {
    const double y = y_scale(tick.value);
    svg.element("line", {{"class", "grid"},
                         {"x1", coordinate(left)},
                         {"x2", coordinate(right)},
                         {"y1", coordinate(y)},
                         {"y2", coordinate(y)},
                         {"stroke", std::string(grid_line)}});
    svg.text(left - 8, y + 4, tick.label, {{"text-anchor", "end"}});
  }
  std::vector<Tick> ticks = x_scale.ticks(8);
  if (!horizontal.ticks.empty()) {
    ticks.clear();
    for (const double value : horizontal.ticks)
      ticks.push_back({value, fmt::format("{:g}", value)});
  }
  for (const Tick& tick : ticks) {
    if (horizontal.whole && tick.value != std::round(tick.value)) continue;
    const double x = x_scale(tick.value);
    svg.element("line", {{"class", "axis"},
                         {"x1", coordinate(x)},
                         {"x2", coordinate(x)},
                         {"y1", coordinate(bottom)},
                         {"y2", coordinate(bottom + 5)},
                         {"stroke", std::string(soft_ink)}});
    svg.text(x, bottom + 20, tick.label, {{"text-anchor", "middle"}});
  }
  svg.element("line", {{"class", "axis"},
                       {"x1", coordinate(left)},
                       {"x2", coordinate(right)},
                       {"y1", coordinate(bottom)},
                       {"y2", coordinate(bottom)},
                       {"stroke", std::string(soft_ink)}});
  svg.text((left + right) / 2, bottom + 42, horizontal.label,
           {{"text-anchor", "middle"}, {"fill", std::string(ink)}});
  svg.text(0, 0, figure.y_axis.label,
           {{"text-anchor", "middle"},
            {"fill", std::string(ink)},
            {"transform", fmt::format("translate(16 {}) rotate(-90)", (top + bottom) / 2)}});

  // What is above the axis is cut off, a little outside so that points at its end are whole.
  const std::string clip = figure.id + "-clip";
  svg.open("defs", {});
  svg.open("clipPath", {{"id", clip}});
  svg.element("rect", {{"x", coordinate(left - 5)},
                       {"y", coordinate(top - 5)},
                       {"width", coordinate(right - left + 10)},
                       {"height", coordinate(bottom - top + 10)}});
  svg.close("clipPath");
  svg.close("defs");
  svg.open("g", {{"clip-path", "url(#" + clip + ")"}});
  std::vector<std::vector<double>> xs, ys;
  for (const Series& series : figure.series) {
    xs.push_back(mapped(series.x[x_axis], x_scale));
    ys.push_back(mapped(series.y, y_scale));
    draw_band(svg, series, xs.back(), y_scale);
  }
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    draw_line(svg, figure.series[i], xs[i], ys[i]);
    draw_points(svg, figure.series[i], xs[i], ys[i]);
  }
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    draw_teleports(svg, figure.series[i], xs[i], ys[i]);
  }
  svg.close("g");
  return std::move(svg).finished();
}

}  // namespace symport::lab::report
