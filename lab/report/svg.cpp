// SPDX-License-Identifier: MIT
#include "lab/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "lab/text/utf8.hpp"

namespace symport::lab::report {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const auto code = static_cast<unsigned char>(character[0]);
    if (length == 0 || (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f) {
      result += "\xef\xbf\xbd";
    } else if (code == '&') {
      result += "&amp;";
    } else if (code == '<') {
      result += "&lt;";
    } else if (code == '>') {
      result += "&gt;";
    } else if (code == '"') {
      result += "&quot;";
    } else if (code == '\'') {
      result += "&#39;";
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

Svg::Svg(double width, double height, std::string_view label) {
  open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", fmt::format("0 0 {} {}", width, height)},
               {"width", coordinate(width)},
               {"height", coordinate(height)},
               {"role", "img"},
               {"aria-label", std::string(label)},
               {"font-family", "system-ui, 'Helvetica Neue', Arial, sans-serif"},
               {"font-size", "13"}});
  element("rect", {{"class", "paper"},
                   {"width", coordinate(width)},
                   {"height", coordinate(height)},
                   {"fill", "#ffffff"}});
}

void Svg::begin(std::string_view name, const Attributes& attributes) {
  fmt::format_to(std::back_inserter(out_), "<{}", name);
  for (const auto& [key, value] : attributes) {
    fmt::format_to(std::back_inserter(out_), " {}=\"{}\"", key, escaped(value));
  }
}

void Svg::open(std::string_view element, const Attributes& attributes) {
  begin(element, attributes);
  out_ += ">\n";
}

void Svg::close(std::string_view element) { out_ += fmt::format("</{}>\n", element); }

void Svg::element(std::string_view name, const Attributes& attributes) {
  begin(name, attributes);
  out_ += "/>\n";
}

void Svg::text(double x, double y, std::string_view content, const Attributes& attributes) {
  Attributes all{{"x", coordinate(x)}, {"y", coordinate(y)}};
  bool filled = false;
  for (const auto& attribute : attributes) {
    all.push_back(attribute);
    filled = filled || attribute.first == "fill";
  }
  if (!filled) all.emplace_back("fill", soft_ink);
  begin("text", all);
  out_ += ">" + escaped(content) + "</text>\n";
}

std::string Svg::finished() && {
  close("svg");
  return std::move(out_);
}

std::vector<LegendPlace> legend_places(const std::vector<std::string>& texts, double left,
                                       double right) {
  constexpr double letter = 7.3;  // about the width of one at 13 pixels
  std::vector<LegendPlace> places;
  double x = left, row = 0.0;
  for (const std::string& text : texts) {
    const auto letters = static_cast<double>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    const double needed = 26 + letter * letters + 18;
    if (x > left && x + needed > right) x = left, ++row;
    places.push_back({x, row});
    x += needed;
  }
  return places;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string path_of(const Polyline& points) {
  std::string path;
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += i == 0 ? 'M' : 'L';
    path += coordinate(points[i].x) + ' ' + coordinate(points[i].y);
  }
  return path;
}

std::string_view series_colour(int index) {
  static constexpr std::array<std::string_view, palette_size> colours = {
      "#7b838b", "#0b5fa5", "#00857c", "#7a4fbf", "#b8336a", "#66780a", "#8a5a3c"};
  return colours.at(static_cast<std::size_t>(index));
}

}  // namespace symport::lab::report
