// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string_view>
#include <utility>

namespace symport {

namespace {

/// Appends cells to a line; every one but the first follows a comma.
class Line {
 public:
  explicit Line(fmt::memory_buffer& text) : out_(std::back_inserter(text)) {}

  void name(std::string_view value) { fmt::format_to(out_, "{}{}", comma(), value); }
  void index(Index value) { fmt::format_to(out_, "{}{}", comma(), value); }
  /// Arithmetic makes NaNs of either sign; the file knows only one.
  void number(double value) {
    fmt::format_to(out_, "{}{:.17g}", comma(), std::isnan(value) ? std::abs(value) : value);
  }
  void evaluations(double value) { fmt::format_to(out_, "{}{}", comma(), value); }
  void seconds(double value) { fmt::format_to(out_, "{}{:.9f}", comma(), value); }
  void end() { fmt::format_to(out_, "\n"); }

 private:
  const char* comma() { return std::exchange(first_, false) ? "" : ","; }

  std::back_insert_iterator<fmt::memory_buffer> out_;
  bool first_ = true;
};

/// One column: what it is called, and how a row fills it.
struct CsvColumn {
  std::string_view name;
  void (*put)(Line&, const TraceRow&);
};

constexpr auto put_step = [](Line& line, const TraceRow& row) { line.index(row.step); };
constexpr auto put_loss = [](Line& line, const TraceRow& row) { line.number(row.loss); };
constexpr CsvColumn step_column{"step", put_step};
constexpr CsvColumn epoch_column{"epoch",
                                 [](Line& line, const TraceRow& row) { line.index(row.epoch); }};
constexpr CsvColumn validation_columns[] = {
    {"valid_loss", [](Line& line, const TraceRow& row) { line.number(row.valid_loss); }},
    {"valid_accuracy", [](Line& line, const TraceRow& row) { line.number(row.valid_accuracy); }}};
constexpr CsvColumn common_columns[] = {
    {"grad_sq", [](Line& line, const TraceRow& row) { line.number(row.grad_sq); }},
    {"learning_rate", [](Line& line, const TraceRow& row) { line.number(row.learning_rate); }},
    {"evaluations", [](Line& line, const TraceRow& row) { line.evaluations(row.evaluations); }},
    {"seconds", [](Line& line, const TraceRow& row) { line.seconds(row.seconds); }},
    {"teleported", [](Line& line, const TraceRow& row) { line.index(row.teleported ? 1 : 0); }}};

std::vector<CsvColumn> columns_of(TraceLayout layout, RowUnit unit) {
  const bool training = layout == TraceLayout::training, by_epoch = unit == RowUnit::epoch;
  std::vector<CsvColumn> columns{by_epoch ? epoch_column : step_column,
                                 {training ? "train_loss" : "loss", put_loss}};
  if (training) {
    columns.insert(columns.end(), std::begin(validation_columns), std::end(validation_columns));
  }
  columns.insert(columns.end(), std::begin(common_columns), std::end(common_columns));
  if (by_epoch) columns.push_back(step_column);
  return columns;
}

}  // namespace

std::string_view to_string(RowUnit unit) { return unit == RowUnit::epoch ? "epoch" : "step"; }

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
  const std::vector<CsvColumn> columns = columns_of(layout, trace.unit);
  fmt::memory_buffer text;
  Line heading(text);
  for (const CsvColumn& column : columns) heading.name(column.name);
  const Index dimension = trace.points.empty() ? 0 : trace.points.front().size();
  for (Index i = 1; i <= dimension; ++i) heading.name(fmt::format("x{}", i));
  heading.end();
  for (std::size_t k = 0; k < trace.rows.size(); ++k) {
    Line line(text);
    for (const CsvColumn& column : columns) column.put(line, trace.rows[k]);
    for (Index i = 0; i < dimension; ++i) line.number(trace.points[k][i]);
    line.end();
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace symport
