// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <ostream>

namespace symport {

namespace {

/// Arithmetic makes NaNs of either sign; the file knows only one.
double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

}  // namespace

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
