// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"
#include "lab/report/svg.hpp"

namespace symport::lab::report {

namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "columns are little-endian doubles");

std::string_view bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

/// All columns of a page; each is written once, however many figures use it.
class Columns {
 public:
  std::size_t add(const std::vector<double>& values) {
    const auto [entry, is_new] = known_.try_emplace(std::string(bytes_of(values)), list_.size());
    if (is_new) list_.push_back(encoded(values));
    return entry->second;
  }
  Json& list() { return list_; }

 private:
  static Json encoded(const std::vector<double>& values) {
    if (values.size() > 2) {
      const double from = values[0], by = values[1] - values[0];
      bool regular = true;
      for (std::size_t i = 0; i < values.size() && regular; ++i) {
        regular = from + static_cast<double>(i) * by == values[i];
      }
      if (regular) return {{"from", from}, {"by", by}, {"count", values.size()}};
    }
    return base64(bytes_of(values));
  }

  std::map<std::string, std::size_t> known_;
  Json list_ = Json::array();
};

Json axis_json(const Axis& axis) {
  Json json{{"key", axis.key}, {"label", axis.label}, {"log", axis.logarithmic}};
  if (axis.whole) json["whole"] = true;
  if (!axis.ticks.empty()) json["ticks"] = axis.ticks;
  if (std::isfinite(axis.most)) json["most"] = axis.most;
  return json;
}

Json figure_json(const CurveFigure& figure, Columns& columns) {
  Json json{{"kind", "curves"},
            {"id", figure.id},
            {"xAxes", Json::array()},
            {"yAxis", axis_json(figure.y_axis)},
            {"series", Json::array()}};
  for (const Axis& axis : figure.x_axes) json["xAxes"].push_back(axis_json(axis));
  for (const Series& series : figure.series) {
    Json entry{{"name", series.name},
               {"colour", series.colour},
               {"x", Json::array()},
               {"y", columns.add(series.y)},
               {"teleports", series.teleports}};
    for (const auto& x : series.x) entry["x"].push_back(columns.add(x));
    if (!series.lower.empty()) {
      entry["lower"] = columns.add(series.lower);
      entry["upper"] = columns.add(series.upper);
    }
    json["series"].push_back(std::move(entry));
  }
  return json;
}

Json figure_json(const LevelSetFigure& figure, Columns& columns) {
  const PlotArea area = level_set_area(figure);
  Json json{{"kind", "levels"},
            {"id", figure.id},
            {"xKey", figure.x_axis.key},
            {"yKey", figure.y_axis.key},
            {"area", {area.left, area.top, area.right, area.bottom}},
            {"box", {figure.box.low.x, figure.box.low.y, figure.box.high.x, figure.box.high.y}},
            {"trajectories", Json::array()}};
  for (const Trajectory& way : figure.trajectories) {
    Json before = Json::array(), after = Json::array();
    for (std::size_t i = 0; i < way.kind.size(); ++i) {
      if (way.kind[i] == Frame::before_teleport) before.push_back(i);
      if (way.kind[i] == Frame::after_teleport) after.push_back(i);
    }
    json["trajectories"].push_back({{"name", way.name},
                                    {"colour", way.colour},
                                    {"step", columns.add(way.step)},
                                    {"x", columns.add(way.x)},
                                    {"y", columns.add(way.y)},
                                    {"loss", columns.add(way.loss)},
                                    {"before", std::move(before)},
                                    {"after", std::move(after)}});
  }
  return json;
}

Json figure_json(const HeatMap& figure, Columns& columns) {
  return {{"kind", "heat"},
          {"id", figure.id},
          {"xAxis", axis_json(figure.x_axis)},
          {"yAxis", axis_json(figure.y_axis)},
          {"value", axis_json(figure.value)},
          {"x", columns.add(figure.x)},
          {"y", columns.add(figure.y)},
          {"values", columns.add(figure.values)}};
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned long group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string page_data(const Report& report) {
  Columns columns;
  Json figures = Json::array(), tables = Json::array();
  for (const Section& section : report.sections) {
    for (const Figure& figure : section.figures) {
      figures.push_back(std::visit([&](const auto& f) { return figure_json(f, columns); }, figure));
    }
    for (const Table& table : section.tables) {
      tables.push_back({{"id", table.id}, {"csv", table_csv(table)}});
    }
  }
  const Json json{{"columns", std::move(columns.list())},
                  {"figures", std::move(figures)},
                  {"tables", std::move(tables)}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace symport::lab::report
