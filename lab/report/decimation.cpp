// SPDX-License-Identifier: MIT
#include "lab/report/decimation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace symport::lab::report {

namespace {

using Places = std::vector<std::size_t>;
using ColumnsToSee = std::vector<const std::vector<double>*>;

/// In ascending order, each once.
void sort_once(Places& places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

/// The places of about `most` of the points; of `always` all, unless they are a quarter of that.
Places places_to_keep(std::size_t count, std::size_t most, const ColumnsToSee& columns,
                      const Places& always) {
  const std::size_t parts = std::max<std::size_t>(1, most / (2 * columns.size() + 2));
  Places kept;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * count / parts, end = (part + 1) * count / parts;
    if (begin == end) continue;
    kept.insert(kept.end(), {begin, end - 1});
    for (const std::vector<double>* column : columns) {
      std::size_t lowest = end, highest = end, broken = end;
      for (std::size_t i = begin; i < end; ++i) {
        const double value = (*column)[i];
        if (!std::isfinite(value)) {
          if (broken == end) broken = i;
          continue;
        }
        if (lowest == end || value < (*column)[lowest]) lowest = i;
        if (highest == end || value > (*column)[highest]) highest = i;
      }
      for (const std::size_t i : {lowest, highest, broken}) {
        if (i < end) kept.push_back(i);
      }
    }
  }
  if (always.size() <= most / 4) {
    for (const std::size_t i : always) {
      kept.insert(kept.end(), {i > 0 ? i - 1 : 0, i, std::min(i + 1, count - 1)});
    }
  }
  sort_once(kept);
  return kept;
}

template <class Value>
void keep(std::vector<Value>& values, const Places& places) {
  if (values.empty()) return;
  std::vector<Value> kept;
  kept.reserve(places.size());
  for (const std::size_t i : places) kept.push_back(values[i]);
  values = std::move(kept);
}

/// Where the places that were kept are now.
Places moved(const Places& old, const Places& kept) {
  Places now;
  for (const std::size_t i : old) {
    const auto found = std::lower_bound(kept.begin(), kept.end(), i);
    if (found != kept.end() && *found == i) {
      now.push_back(static_cast<std::size_t>(found - kept.begin()));
    }
  }
  return now;
}

void add_note(std::string& note, std::size_t drawn, std::size_t rows) {
  note += fmt::format("{}At most {} of {} points of a line are drawn; trace.csv has all of them.",
                      note.empty() ? "" : " ", drawn, rows);
}

}  // namespace

void thin(CurveFigure& figure, std::size_t most) {
  std::size_t longest = 0, drawn = 0;
  for (Series& series : figure.series) {
    const std::size_t count = series.y.size();
    if (count <= most) continue;
    ColumnsToSee columns{&series.y};
    for (const auto* column : {&series.lower, &series.upper}) {
      if (!column->empty()) columns.push_back(column);
    }
    for (const std::vector<double>& x : series.x) {
      if (!std::is_sorted(x.begin(), x.end())) columns.push_back(&x);
    }
    const Places places = places_to_keep(count, most, columns, series.teleports);
    for (std::vector<double>& x : series.x) keep(x, places);
    for (auto* column : {&series.y, &series.lower, &series.upper}) keep(*column, places);
    series.teleports = moved(series.teleports, places);
    longest = std::max(longest, count);
    drawn = std::max(drawn, places.size());
  }
  if (longest > 0) add_note(figure.note, drawn, longest);
}

void thin(LevelSetFigure& figure, std::size_t most) {
  std::size_t longest = 0, drawn = 0;
  for (Trajectory& way : figure.trajectories) {
    const std::size_t count = way.x.size();
    if (count <= most) continue;
    Places jumps;
    for (std::size_t i = 0; i < count; ++i) {
      if (way.kind[i] == Frame::after_teleport) jumps.push_back(i);
    }
    Places places = places_to_keep(count, most, {&way.x, &way.y}, jumps);
    Places others;  // a jump has two frames
    for (const std::size_t i : places) {
      if (way.kind[i] == Frame::after_teleport) others.push_back(i - 1);
      if (way.kind[i] == Frame::before_teleport) others.push_back(i + 1);
    }
    places.insert(places.end(), others.begin(), others.end());
    sort_once(places);
    for (auto* column : {&way.step, &way.x, &way.y, &way.loss}) keep(*column, places);
    keep(way.kind, places);
    longest = std::max(longest, count);
    drawn = std::max(drawn, places.size());
  }
  if (longest > 0) add_note(figure.note, drawn, longest);
}

std::vector<std::vector<std::size_t>> pieces_to_draw(const std::vector<double>& x,
                                                     const std::vector<double>& y) {
  std::vector<std::vector<std::size_t>> pieces;
  const auto drawable = [&](std::size_t i) { return std::isfinite(x[i]) && std::isfinite(y[i]); };
  bool in_piece = false;
  for (std::size_t i = 0; i < x.size();) {
    if (!drawable(i)) {
      in_piece = false;
      ++i;
      continue;
    }
    if (!in_piece) pieces.emplace_back();
    in_piece = true;
    const double column = std::floor(x[i]);
    std::size_t lowest = i, highest = i, end = i;
    for (; end < x.size() && drawable(end) && std::floor(x[end]) == column; ++end) {
      if (y[end] < y[lowest]) lowest = end;
      if (y[end] > y[highest]) highest = end;
    }
    std::vector<std::size_t> chosen{i, lowest, highest, end - 1};
    sort_once(chosen);
    pieces.back().insert(pieces.back().end(), chosen.begin(), chosen.end());
    i = end;
  }
  return pieces;
}

}  // namespace symport::lab::report
