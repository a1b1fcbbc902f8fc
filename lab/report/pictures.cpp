// SPDX-License-Identifier: MIT
#include "lab/report/pictures.hpp"

#include "lab/report/svg.hpp"

namespace symport::lab::report {

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

void add(const CurveFigure& figure, Files& files) {
  for (std::size_t i = 0; i < figure.x_axes.size(); ++i) {
    const std::string suffix = i == 0 ? "" : "-" + figure.x_axes[i].key;
    files.emplace_back(figure.id + suffix + ".svg", curve_svg(figure, i));
  }
}

void add(const LevelSetFigure& figure, Files& files) {
  files.emplace_back(figure.id + ".svg", level_set_svg(figure));
}

void add(const HeatMap& figure, Files& files) {
  files.emplace_back(figure.id + ".svg", heat_map_svg(figure));
}

}  // namespace

Files pictures(const Report& report) {
  Files files;
  for (const Section& section : report.sections) {
    for (const Figure& any : section.figures) {
      std::visit([&](const auto& figure) { add(figure, files); }, any);
    }
  }
  return files;
}

}  // namespace symport::lab::report
