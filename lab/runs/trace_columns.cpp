// SPDX-License-Identifier: MIT
#include "lab/runs/trace_columns.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"

namespace symport::lab {

namespace {

/// The text up to `end`; both are removed from `text`.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

double parse_cell(std::string_view cell, const std::string& place) {
  double value = 0.0;
  const char* end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  // A number too small or too large for a double never comes from a double.
  if (error != std::errc{} || rest != end) {
    throw UsageError(place, fmt::format("found '{}', allowed is a number", cell));
  }
  return value;
}

}  // namespace

const std::vector<double>& TraceColumns::operator[](const std::string& name) const {
  const auto column = columns.find(name);
  if (column == columns.end()) {
    throw UsageError(file + ":1", fmt::format("no column '{}'", name));
  }
  return column->second;
}

const std::vector<double>& TraceColumns::loss() const {
  return (*this)[has("train_loss") ? "train_loss" : "loss"];
}

std::size_t TraceColumns::first_loss() const {
  const std::vector<double>& values = loss();
  return values.size() > 1 && std::isnan(values[0]) ? 1 : 0;
}

std::size_t TraceColumns::dimension() const {
  std::size_t count = 0;
  while (has(fmt::format("x{}", count + 1))) ++count;
  return count;
}

TraceColumns parse_trace(std::string_view csv, const std::string& file) {
  std::vector<std::string> names;
  std::string_view heading = take(csv, '\n');
  while (!heading.empty()) names.emplace_back(take(heading, ','));
  TraceColumns trace;
  trace.file = file;
  for (const std::string& name : names) {
    if (!trace.columns.try_emplace(name).second) {
      throw UsageError(file + ":1", fmt::format("the column '{}' is there twice", name));
    }
  }
  trace.index = trace.has("epoch") ? "epoch" : "step";
  const auto require = [&](bool there, const char* column) {
    if (there) return;
    throw UsageError(file + ":1", fmt::format("no column {}; found are {}", column,
                                              names.empty() ? "none" : join(names)));
  };
  require(trace.has(trace.index), "'step' or 'epoch'");
  require(trace.has("loss") || trace.has("train_loss"), "'loss' or 'train_loss'");
  require(trace.has("seconds"), "'seconds'");

  std::vector<std::vector<double>*> columns;
  for (const std::string& name : names) columns.push_back(&trace.columns[name]);
  for (std::size_t line = 2; !csv.empty(); ++line) {
    std::string_view row = take(csv, '\n');
    const std::string place = fmt::format("{}:{}", file, line);
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      more = row.find(',') != std::string_view::npos;
      const std::string_view cell = take(row, ',');
      if (count < columns.size()) {
        columns[count]->push_back(parse_cell(cell, place + ": " + names[count]));
      }
    }
    if (count != columns.size()) {
      throw UsageError(place, fmt::format("found {} cells, allowed is {}, one for each column",
                                          count, columns.size()));
    }
    const auto& index = trace[trace.index];
    if (index.size() > 1 && !(index[index.size() - 2] < index.back())) {
      throw UsageError(fmt::format("{}: {}", place, trace.index),
                       fmt::format("found {} after {}, allowed are numbers that increase",
                                   index.back(), index[index.size() - 2]));
    }
  }
  if (trace.rows() == 0) throw UsageError(file, "no rows, allowed is one or more");
  return trace;
}

}  // namespace symport::lab
