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

TraceColumns columns_of(const Trace& trace) {
  TraceColumns columns{.index = "step", .columns = {}};
  const auto add = [&](const std::string& name, double value) {
    columns.columns[name].push_back(unsigned_nan(value));
  };
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceRow& row = trace.rows[i];
    add("step", static_cast<double>(row.step));
    add("loss", row.loss);
    add("grad_sq", row.grad_sq);
    add("learning_rate", row.learning_rate);
    add("evaluations", row.evaluations);
    add("seconds", nanoseconds(row.seconds));
    add("teleported", row.teleported ? 1.0 : 0.0);
    if (trace.points.empty()) continue;
    for (Index k = 0; k < trace.points[i].size(); ++k) {
      add(fmt::format("x{}", k + 1), trace.points[i][k]);
    }
  }
  return columns;
}

TraceColumns columns_of(const NetworkResult& result) {
  TraceColumns columns{.index = result.spec.minibatch() ? "epoch" : "step", .columns = {}};
  columns.columns[columns.index];  // also where there is no row
  for (const NetworkRow& row : result.rows) {
    const std::pair<std::string, double> cells[] = {{columns.index, static_cast<double>(row.index)},
                                                    {"train_loss", row.train_loss},
                                                    {"valid_loss", row.valid_loss},
                                                    {"valid_accuracy", row.valid_accuracy},
                                                    {"grad_sq", row.grad_sq},
                                                    {"learning_rate", row.learning_rate},
                                                    {"evaluations", row.evaluations},
                                                    {"seconds", nanoseconds(row.seconds)}};
    for (const auto& [name, value] : cells) columns.columns[name].push_back(unsigned_nan(value));
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
          .trace = columns_of(result.summary.trace),
          .teleports = result.summary.teleports};
}

RunRecord record_of(const NetworkResult& result) {
  return {.spec = result.spec,
          .config_text = config_of(result.spec),
          .status = result.status,
          .version = std::string(version()),
          .machine = machine_text(),
          .loss_invariant = result.loss_invariant,
          .trace = columns_of(result),
          .teleports = result.teleports};
}

}  // namespace symport::lab
