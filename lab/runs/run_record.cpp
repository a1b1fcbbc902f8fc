// SPDX-License-Identifier: MIT
#include "lab/runs/run_record.hpp"

#include <cmath>

#include "lab/runs/machine.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

/// Files have nanoseconds.
double nanoseconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

TraceColumns columns_of(const Trace& trace, TraceLayout layout) {
  TraceColumns columns{.index = std::string(to_string(trace.unit)), .columns = {}};
  for (const TraceColumn& column : trace_columns(layout, trace.unit)) {
    std::vector<double>& values = columns.columns[std::string(column.name)];
    const bool time = column.notation == TraceColumn::Notation::nanoseconds;
    for (const TraceRow& row : trace.rows) {
      const double value = unsigned_nan(column.value(row));
      values.push_back(time ? nanoseconds(value) : value);
    }
  }
  for (const Vector& point : trace.points) {
    for (Index k = 0; k < point.size(); ++k) {
      columns.columns[fmt::format("x{}", k + 1)].push_back(unsigned_nan(point[k]));
    }
  }
  return columns;
}

}  // namespace

std::uint64_t RunRecord::seed() const {
  return std::visit([](const auto& one) { return one.seed; }, spec);
}

const Schedule& RunRecord::schedule() const {
  return std::visit([](const auto& one) -> const Schedule& { return one.teleport; }, spec);
}

RunRecord record_of(const FunctionResult& result) {
  return {.spec = result.spec,
          .config_text = config_of(result.spec, result.formula),
          .status = result.summary.status,
          .version = std::string(version()),
          .machine = machine_text(),
          .trace = columns_of(result.summary.trace, TraceLayout::function),
          .teleports = result.summary.teleports,
          .jumps = result.summary.trace.teleports};
}

RunRecord record_of(const NetworkResult& result) {
  return {.spec = result.spec,
          .config_text = config_of(result.spec),
          .status = result.summary.status,
          .version = std::string(version()),
          .machine = machine_text(),
          .loss_invariant = result.loss_invariant,
          .trace = columns_of(result.summary.trace, TraceLayout::training),
          .teleports = result.summary.teleports,
          .jumps = result.summary.trace.teleports};
}

}  // namespace symport::lab
