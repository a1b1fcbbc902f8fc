// SPDX-License-Identifier: MIT
#include "play.hpp"

#include <limits>

namespace symport::playground {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

void add_point(std::vector<double>& numbers, const Vector* x) {
  const bool known = x != nullptr && x->size() == 2;
  numbers.push_back(known ? (*x)[0] : unknown);
  numbers.push_back(known ? (*x)[1] : unknown);
}

}  // namespace

std::vector<double> Play::trace() const {
  const Trace& trace = summary_.trace;
  std::vector<double> numbers;
  numbers.reserve(trace.rows.size() * trace_columns);
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceRow& row = trace.rows[i];
    numbers.insert(numbers.end(), {static_cast<double>(row.step), row.loss, row.grad_sq,
                                   row.learning_rate, row.evaluations, row.teleported ? 1.0 : 0.0});
    add_point(numbers, i < trace.points.size() ? &trace.points[i] : nullptr);
  }
  return numbers;
}

std::vector<double> Play::teleports() const {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < summary_.teleports.size(); ++i) {
    const Certificate& one = summary_.teleports[i];
    numbers.insert(numbers.end(), {static_cast<double>(one.step), one.accepted ? 1.0 : 0.0,
                                   one.loss_before, one.loss_after, one.grad_sq_before,
                                   one.grad_sq_after, one.condition, one.evaluations});
    const bool kept = i < summary_.trace.teleports.size();
    add_point(numbers, kept ? &summary_.trace.teleports[i].before : nullptr);
    add_point(numbers, kept ? &summary_.trace.teleports[i].after : nullptr);
  }
  return numbers;
}

std::string Play::reasons() const {
  std::string text;
  for (const Certificate& one : summary_.teleports) text += one.reason + "\n";
  return text;
}

}  // namespace symport::playground
