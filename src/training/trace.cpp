// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>

namespace symport {

namespace {

/// Arithmetic makes NaNs of either sign; the file knows only one.
double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

}  // namespace

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

void write_csv(const Trace& trace, std::ostream& out) {
  const bool with_points = !trace.points.empty();
  fmt::memory_buffer text;
  const auto append = std::back_inserter(text);
  fmt::format_to(append, "step,loss,grad_sq,learning_rate,evaluations,seconds,teleported");
  for (Index i = 0; with_points && i < trace.points.front().size(); ++i) {
    fmt::format_to(append, ",x{}", i + 1);
  }
  text.push_back('\n');
  for (std::size_t k = 0; k < trace.rows.size(); ++k) {
    const TraceRow& row = trace.rows[k];
    fmt::format_to(append, "{},{:.17g},{:.17g},{:.17g},{},{:.9f},{}", row.step,
                   unsigned_nan(row.loss), unsigned_nan(row.grad_sq), row.learning_rate,
                   row.evaluations, row.seconds, row.teleported ? 1 : 0);
    if (with_points) {
      for (const double x : trace.points[k]) fmt::format_to(append, ",{:.17g}", unsigned_nan(x));
    }
    text.push_back('\n');
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace symport
