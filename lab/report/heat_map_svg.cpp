// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/report.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"
#include "lab/report/svg_frame.hpp"

namespace symport::lab::report {

namespace {

constexpr double labelled_left = 86, top = 64, cell_height = 46;
constexpr int above = 1, below = 6;  // series colours
/// Numbers stay readable on the strongest colour.
constexpr double strongest = 0.6;

std::string label_of(double value) {
  const double power = std::log10(value);
  if (value > 0.0 && std::abs(power) >= 3.0 && std::abs(power - std::round(power)) < 1e-9) {
    return power_of_ten(static_cast<int>(std::lround(power)));
  }
  return fmt::format("{:g}", value);
}

/// "2.31", "0.04", "12"
std::string cell_text(double value) {
  return fmt::format("{:.{}f}", value, value < 10.0 ? 2 : value < 100.0 ? 1 : 0);
}

class Colours {
 public:
  explicit Colours(const HeatMap& figure) : middle_(figure.middle) {
    for (const double value : figure.values) {
      if (shown(value)) far_ = std::max(far_, std::abs(std::log(value / middle_)));
    }
  }

  static bool shown(double value) { return std::isfinite(value) && value > 0.0; }
  double far() const { return far_; }

  Svg::Attributes look(double value) const {
    const int colour = value >= middle_ ? above : below;
    return {{"class", fmt::format("cell s{}", colour)},
            {"fill", std::string(series_colour(colour))},
            {"fill-opacity",
             coordinate(strongest * std::min(1.0, std::abs(std::log(value / middle_)) / far_))}};
  }

 private:
  double middle_, far_ = 0.1;
};

void add_box(Svg::Attributes& look, double x, double y, double w, double h) {
  look.emplace_back("x", coordinate(x));
  look.emplace_back("y", coordinate(y));
  look.emplace_back("width", coordinate(w));
  look.emplace_back("height", coordinate(h));
}

/// The colours next to their numbers, from the smallest ratio to the largest.
void draw_key(Svg& svg, const HeatMap& figure, const Colours& colours) {
  constexpr int steps = 41;
  constexpr double key_left = 440, key_right = right, y = 16, height = 10;
  const double step = (key_right - key_left) / steps;
  svg.text(labelled_left, y + 10, figure.value.label, {{"fill", std::string(ink)}});
  const auto at = [&](double part) {
    return figure.middle * std::exp((2.0 * part - 1.0) * colours.far());
  };
  for (int i = 0; i < steps; ++i) {
    Svg::Attributes look = colours.look(at((i + 0.5) / steps));
    look[0].second = "key-" + look[0].second;
    add_box(look, key_left + i * step, y, step + 0.1, height);
    svg.element("rect", look);
  }
  const struct {
    double part;
    const char* anchor;
  } marks[] = {{0.0, "start"}, {0.5, "middle"}, {1.0, "end"}};
  for (const auto& mark : marks) {
    svg.text(key_left + mark.part * (key_right - key_left), y + 30, short_text(at(mark.part)),
             {{"text-anchor", mark.anchor}});
  }
}

}  // namespace

std::string heat_map_svg(const HeatMap& figure) {
  const auto columns = figure.x.size(), rows = figure.y.size();
  const double w = (right - labelled_left) / static_cast<double>(columns);
  const double bottom = top + cell_height * static_cast<double>(rows);
  const Colours colours(figure);
  Svg svg(width, bottom + 52, figure.title + ": " + figure.finding.text);
  draw_key(svg, figure, colours);
  for (std::size_t row = 0; row < rows; ++row) {
    const double y = bottom - cell_height * static_cast<double>(row + 1);
    svg.text(labelled_left - 10, y + cell_height / 2 + 4, label_of(figure.y[row]),
             {{"text-anchor", "end"}});
    for (std::size_t column = 0; column < columns; ++column) {
      const double x = labelled_left + w * static_cast<double>(column);
      const double value = figure.values[row * columns + column];
      Svg::Attributes look = Colours::shown(value)
                                 ? colours.look(value)
                                 : Svg::Attributes{{"class", "cell omitted"}, {"fill", "none"}};
      add_box(look, x + 1, y + 1, w - 2, cell_height - 2);
      look.emplace_back("rx", "3");
      look.emplace_back("stroke", std::string(grid_line));
      svg.element("rect", look);
      svg.text(x + w / 2, y + cell_height / 2 + 5,
               Colours::shown(value) ? cell_text(value) : "\u00d7",
               {{"text-anchor", "middle"},
                {"class", Colours::shown(value) ? "number" : "omitted"},
                {"fill", std::string(Colours::shown(value) ? ink : soft_ink)}});
    }
  }
  for (std::size_t column = 0; column < columns; ++column) {
    svg.text(labelled_left + w * (static_cast<double>(column) + 0.5), bottom + 20,
             label_of(figure.x[column]), {{"text-anchor", "middle"}});
  }
  svg.text((labelled_left + right) / 2, bottom + 42, figure.x_axis.label,
           {{"text-anchor", "middle"}, {"fill", std::string(ink)}});
  svg.text(0, 0, figure.y_axis.label,
           {{"text-anchor", "middle"},
            {"fill", std::string(ink)},
            {"transform", fmt::format("translate(18 {}) rotate(-90)", (top + bottom) / 2)}});
  return std::move(svg).finished();
}

}  // namespace symport::lab::report
