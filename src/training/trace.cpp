// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string_view>

namespace symport {

namespace {

using Notation = TraceColumn::Notation;

constexpr TraceColumn step_column{
    "step", Notation::whole, [](const TraceRow& row) { return static_cast<double>(row.step); }};
constexpr TraceColumn epoch_column{
    "epoch", Notation::whole, [](const TraceRow& row) { return static_cast<double>(row.epoch); }};
constexpr double (*loss)(const TraceRow&) = [](const TraceRow& row) { return row.loss; };
constexpr TraceColumn validation_columns[] = {
    {"valid_loss", Notation::exact, [](const TraceRow& row) { return row.valid_loss; }},
    {"valid_accuracy", Notation::exact, [](const TraceRow& row) { return row.valid_accuracy; }}};
constexpr TraceColumn common_columns[] = {
    {"grad_sq", Notation::exact, [](const TraceRow& row) { return row.grad_sq; }},
    {"learning_rate", Notation::exact, [](const TraceRow& row) { return row.learning_rate; }},
    {"evaluations", Notation::shortest, [](const TraceRow& row) { return row.evaluations; }},
    {"seconds", Notation::nanoseconds, [](const TraceRow& row) { return row.seconds; }},
    {"teleported", Notation::whole,
     [](const TraceRow& row) { return row.teleported ? 1.0 : 0.0; }}};

void append(fmt::memory_buffer& text, double value, Notation notation) {
  // Arithmetic makes NaNs of either sign; the file knows only one.
  if (std::isnan(value)) value = std::abs(value);
  const auto out = std::back_inserter(text);
  switch (notation) {
    case Notation::whole:
      fmt::format_to(out, "{:.0f}", value);
      break;
    case Notation::shortest:
      fmt::format_to(out, "{}", value);
      break;
    case Notation::nanoseconds:
      fmt::format_to(out, "{:.9f}", value);
      break;
    case Notation::exact:
      fmt::format_to(out, "{:.17g}", value);
      break;
  }
}

}  // namespace

std::string_view to_string(RowUnit unit) { return unit == RowUnit::epoch ? "epoch" : "step"; }

std::vector<TraceColumn> trace_columns(TraceLayout layout, RowUnit unit) {
  const bool training = layout == TraceLayout::training, by_epoch = unit == RowUnit::epoch;
  std::vector<TraceColumn> columns{by_epoch ? epoch_column : step_column,
                                   {training ? "train_loss" : "loss", Notation::exact, loss}};
  if (training) {
    columns.insert(columns.end(), std::begin(validation_columns), std::end(validation_columns));
  }
  columns.insert(columns.end(), std::begin(common_columns), std::end(common_columns));
  if (by_epoch) columns.push_back(step_column);
  return columns;
}

void Trace::record(const TraceRow& row, const Vector* point) {
  if (!rows.empty() && !stays(rows.back())) {
    rows.pop_back();
    if (!points.empty()) points.pop_back();
  }
  if (rows.size() >= limit) thin_out();
  rows.push_back(row);
  if (point != nullptr) points.push_back(*point);
}

void Trace::thin_out() {
  stride *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!stays(rows[i])) continue;
    rows[kept] = rows[i];
    if (!points.empty()) points[kept].swap(points[i]);
    ++kept;
  }
  rows.resize(kept);
  if (!points.empty()) points.resize(kept);
  limit = std::max(max_rows, 2 * kept);  // where teleports fill the trace, they may
}

void write_csv(const Trace& trace, std::ostream& out, TraceLayout layout) {
  const std::vector<TraceColumn> columns = trace_columns(layout, trace.unit);
  const Index dimension = trace.points.empty() ? 0 : trace.points.front().size();
  fmt::memory_buffer text;
  for (const TraceColumn& column : columns) {
    fmt::format_to(std::back_inserter(text), "{}{}", text.size() == 0 ? "" : ",", column.name);
  }
  for (Index i = 1; i <= dimension; ++i) fmt::format_to(std::back_inserter(text), ",x{}", i);
  text.push_back('\n');
  for (std::size_t k = 0; k < trace.rows.size(); ++k) {
    for (const TraceColumn& column : columns) {
      append(text, column.value(trace.rows[k]), column.notation);
      text.push_back(',');
    }
    for (Index i = 0; i < dimension; ++i) {
      append(text, trace.points[k][i], Notation::exact);
      text.push_back(',');
    }
    text[text.size() - 1] = '\n';
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace symport
