// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/report/figure.hpp"

namespace symport::lab::report {

/// Text as it must stand in HTML and SVG: & < > " ' escaped, control characters and what is not
/// UTF-8 replaced by U+FFFD.
std::string escaped(std::string_view text);

/// An SVG document, written element by element. All looks are presentation attributes, so that a
/// page's style sheet can override them by class; there is no `style`, which a strict
/// Content-Security-Policy forbids.
class Svg {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  /// `label` is what a screen reader says.
  Svg(double width, double height, std::string_view label);

  void open(std::string_view element, const Attributes& attributes);
  void close(std::string_view element);
  void element(std::string_view name, const Attributes& attributes);
  void text(double x, double y, std::string_view content, const Attributes& attributes = {});
  std::string finished() &&;

 private:
  void begin(std::string_view name, const Attributes& attributes);
  std::string out_;
};

/// A coordinate with at most two decimals.
std::string coordinate(double value);
/// "M1 2L3 4…" of points in pixels.
std::string path_of(const Polyline& points);

/// The colours of a figure on white paper: of series, and of teleports.
std::string_view series_colour(int index);
inline constexpr std::string_view teleport_colour = "#d95f02";
inline constexpr std::string_view ink = "#1f2429", soft_ink = "#5c646c", grid_line = "#e4e7ea";

/// The figure as an SVG document on its own: curves against one of the figure's horizontal axes,
/// decimated to what 720 pixels show.
std::string curve_svg(const CurveFigure& figure, std::size_t x_axis = 0);

/// Where the box of a level-set figure lies in its SVG, in pixels from the top left.
struct PlotArea {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
};
PlotArea level_set_area(const LevelSetFigure& figure);
std::string level_set_svg(const LevelSetFigure& figure);

std::string heat_map_svg(const HeatMap& figure);

/// Where the entries of a legend stand: rows of 20 pixels from the top, each entry a swatch and a
/// text, from x = `left` to `right`.
struct LegendPlace {
  double x = 0.0, row = 0.0;
};
std::vector<LegendPlace> legend_places(const std::vector<std::string>& texts, double left,
                                       double right);

}  // namespace symport::lab::report
