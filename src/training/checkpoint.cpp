// SPDX-License-Identifier: MIT
#include "symport/training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "symport/core/invalid_argument.hpp"
#include "training/checkpoint_fields.hpp"

namespace symport {

namespace {

constexpr std::int64_t format_version = 5;

const Columns<TraceRow> row_columns{{"step", &TraceRow::step},
                                    {"epoch", &TraceRow::epoch},
                                    {"loss", &TraceRow::loss},
                                    {"grad_sq", &TraceRow::grad_sq},
                                    {"learning_rate", &TraceRow::learning_rate},
                                    {"evaluations", &TraceRow::evaluations},
                                    {"seconds", &TraceRow::seconds},
                                    {"teleported", &TraceRow::teleported},
                                    {"valid_loss", &TraceRow::valid_loss},
                                    {"valid_accuracy", &TraceRow::valid_accuracy}};

const Columns<TraceTeleport> teleport_columns{{"step", &TraceTeleport::step},
                                              {"epoch", &TraceTeleport::epoch},
                                              {"batch", &TraceTeleport::batch},
                                              {"accepted", &TraceTeleport::accepted},
                                              {"loss_before", &TraceTeleport::loss_before},
                                              {"loss_after", &TraceTeleport::loss_after}};

const Columns<Certificate> certificate_columns{{"step", &Certificate::step},
                                               {"loss_before", &Certificate::loss_before},
                                               {"loss_after", &Certificate::loss_after},
                                               {"drift", &Certificate::drift},
                                               {"grad_sq_before", &Certificate::grad_sq_before},
                                               {"grad_sq_after", &Certificate::grad_sq_after},
                                               {"curvature_before", &Certificate::curvature_before},
                                               {"curvature_after", &Certificate::curvature_after},
                                               {"condition", &Certificate::condition},
                                               {"evaluations", &Certificate::evaluations},
                                               {"seconds", &Certificate::seconds},
                                               {"accepted", &Certificate::accepted}};

/// A `Scope` as numbers.
struct ScopeRow {
  Index data = 0, samples = 0, of = 0, checked = 0;
  double loss_before = 0.0, loss_after = 0.0;
};
const Columns<ScopeRow> scope_columns{{"data", &ScopeRow::data},
                                      {"samples", &ScopeRow::samples},
                                      {"of", &ScopeRow::of},
                                      {"checked", &ScopeRow::checked},
                                      {"loss_before", &ScopeRow::loss_before},
                                      {"loss_after", &ScopeRow::loss_after}};

void visit_scopes(FieldWriter& fields, const std::vector<Certificate>& teleports) {
  std::vector<ScopeRow> rows;
  for (const Certificate& c : teleports) {
    const Scope& s = c.scope;
    rows.push_back(
        {static_cast<Index>(s.data), s.samples, s.of, s.checked, s.loss_before, s.loss_after});
  }
  fields.table("teleports.scope", rows, scope_columns);
}

void visit_scopes(const FieldReader& fields, std::vector<Certificate>& teleports) {
  std::vector<ScopeRow> rows;
  fields.table("teleports.scope", rows, scope_columns);
  if (rows.size() != teleports.size()) {
    fields.fail("teleports.scope.data", fmt::format("{} rows", rows.size()),
                fmt::format("{}, one for each teleport", teleports.size()));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScopeRow& row = rows[i];
    if (row.data > static_cast<Index>(Scope::Data::none)) {
      fields.fail("teleports.scope.data", fmt::format("{}", row.data), "0, 1 or 2");
    }
    teleports[i].scope = {static_cast<Scope::Data>(row.data),
                          row.samples,
                          row.of,
                          row.checked,
                          row.loss_before,
                          row.loss_after};
  }
}

/// Every field but parameters and buffers, by name: written and read by the
/// same list.
template <class Fields, class Checkpoint>
void visit_fields(Fields& fields, Checkpoint& c) {
  fields.count("step", c.step);
  fields.count("epoch", c.epoch);
  fields.count("batch", c.batch);
  fields.number("evaluations", c.evaluations);
  fields.number("seconds", c.seconds);
  fields.flag("teleported", c.teleported);
  fields.number("previous_loss", c.previous_loss);
  fields.number("epoch_loss", c.epoch_loss);
  fields.number("best_valid_loss", c.best_valid_loss);
  fields.count("epochs_without_progress", c.epochs_without_progress);
  fields.count("steps_since_reset", c.optimizer.count);
  fields.bits("random.seed", c.random.seed);
  fields.bits("random.stream", c.random.stream);
  fields.bits("random.position", c.random.position);
  bool by_epoch = c.trace.unit == RowUnit::epoch;
  fields.flag("trace.by_epoch", by_epoch);
  if constexpr (!std::is_const_v<Checkpoint>) {
    c.trace.unit = by_epoch ? RowUnit::epoch : RowUnit::step;
  }
  fields.count("trace.stride", c.trace.stride);
  fields.count("trace.limit", c.trace.limit);
  fields.table("trace", c.trace.rows, row_columns);
  fields.points("trace.points", c.trace.points);
  fields.table("trace.teleports", c.trace.teleports, teleport_columns);
  fields.points("trace.teleports.before", c.trace.teleports, &TraceTeleport::before);
  fields.points("trace.teleports.after", c.trace.teleports, &TraceTeleport::after);
  fields.table("teleports", c.teleports, certificate_columns);
  fields.lines("teleports.reason", c.teleports, &Certificate::reason);
  visit_scopes(fields, c.teleports);
  fields.count("steps_above", c.steps_above);
  fields.text("optimizer_name", c.optimizer_name);
  fields.text("learning_rate", c.learning_rate);
  fields.number("loss", c.loss);
}

template <Real Scalar>
void write_buffers(FieldWriter& fields, const std::string& name,
                   const OptimizerState<Scalar>& state) {
  std::string list;
  for (const StateBuffer<Scalar>& buffer : state.buffers) {
    list += fmt::format("{} {}\n", buffer.name, to_string(buffer.kind));
    fields.vector(name + "." + buffer.name, buffer.values);
  }
  fields.text(name, list);
}

template <Real Scalar>
void read_buffers(const FieldReader& fields, const std::string& whole, Index parameters,
                  OptimizerState<Scalar>& state) {
  for (const std::string& line : fields.split_lines(whole)) {
    const auto refuse = [&] {
      fields.fail(whole, fmt::format("'{}'", line), "lines of a new name and a kind");
    };
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const auto kind = state_kind(space == std::string::npos ? "" : line.substr(space + 1));
    if (!kind) refuse();
    try {
      state.add(name, *kind, 0);
    } catch (const std::logic_error&) {
      refuse();
    }
    VectorOf<Scalar>& values = state.buffers.back().values;
    const std::string array = whole + "." + name;
    fields.vector(array, values);
    if (*kind != StateKind::scalar && values.size() % std::max<Index>(parameters, 1) != 0) {
      fields.fail(array, fmt::format("{} numbers", values.size()),
                  fmt::format("a multiple of {}, one for each parameter", parameters));
    }
  }
}

template <Real Scalar>
void write_rollback_points(FieldWriter& fields, const std::vector<RollbackPoint<Scalar>>& points) {
  fields.count("rollback_points", static_cast<Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string name = fmt::format("rollback_points.{}", i);
    fields.count(name + ".teleport", points[i].teleport);
    fields.number(name + ".loss", points[i].loss);
    fields.vector(name + ".w", points[i].w);
    fields.count(name + ".steps_since_reset", points[i].optimizer.count);
    write_buffers(fields, name + ".optimizer", points[i].optimizer);
    fields.text(name + ".reason", points[i].reason);
  }
}

template <Real Scalar>
void read_rollback_points(const FieldReader& fields, std::vector<RollbackPoint<Scalar>>& points) {
  Index count = 0;
  fields.count("rollback_points", count);
  if (count > 2) fields.fail("rollback_points", fmt::format("{}", count), "0, 1 or 2");
  for (Index i = 0; i < count; ++i) {
    const std::string name = fmt::format("rollback_points.{}", i);
    RollbackPoint<Scalar>& point = points.emplace_back();
    fields.count(name + ".teleport", point.teleport);
    fields.number(name + ".loss", point.loss);
    fields.vector(name + ".w", point.w);
    fields.count(name + ".steps_since_reset", point.optimizer.count);
    read_buffers(fields, name + ".optimizer", point.w.size(), point.optimizer);
    fields.text(name + ".reason", point.reason);
  }
}

/// Points belong to rows and have a number for each parameter.
template <Real Scalar>
void require_points(const FieldReader& fields, const Checkpoint<Scalar>& c) {
  const Trace& trace = c.trace;
  const auto fits = [&](const Vector& point) { return point.size() == c.w.size(); };
  if (!trace.points.empty() && (trace.points.size() != trace.rows.size() ||
                                !std::all_of(trace.points.begin(), trace.points.end(), fits))) {
    fields.fail("trace.points", fmt::format("{} points", trace.points.size()),
                fmt::format("none, or one of {} numbers for each row", c.w.size()));
  }
  for (const TraceTeleport& teleport : trace.teleports) {
    for (const Vector* point : {&teleport.before, &teleport.after}) {
      if (point->size() == 0 || fits(*point)) continue;
      fields.fail(point == &teleport.before ? "trace.teleports.before" : "trace.teleports.after",
                  fmt::format("points of {} numbers", point->size()),
                  fmt::format("none, or {} numbers", c.w.size()));
    }
  }
}

}  // namespace

void require_checkpoint_format(const ArrayMap& arrays, const std::string& file) {
  const auto refuse = [&](const std::string& found) {
    throw InvalidArgument(file, "a checkpoint of " + found,
                          fmt::format("format {}: start the run again", format_version));
  };
  if (!arrays.contains("format") && arrays.contains("version")) refuse("format 1 (Symport 0.1)");
  Index format = 0;
  FieldReader(arrays, file).count("format", format);
  if (format != format_version) refuse(fmt::format("format {}", format));
}

template <Real Scalar>
ArrayMap checkpoint_arrays(const Checkpoint<Scalar>& checkpoint) {
  ArrayMap arrays;
  FieldWriter fields(arrays);
  fields.count("format", format_version);
  fields.vector("w", checkpoint.w);
  write_buffers(fields, "optimizer", checkpoint.optimizer);
  visit_fields(fields, checkpoint);
  write_rollback_points(fields, checkpoint.rollback_points);
  return arrays;
}

template <Real Scalar>
Checkpoint<Scalar> checkpoint_from_arrays(const ArrayMap& arrays, const std::string& file) {
  require_checkpoint_format(arrays, file);
  const FieldReader fields(arrays, file);
  Checkpoint<Scalar> c;
  fields.vector("w", c.w);
  read_buffers(fields, "optimizer", c.w.size(), c.optimizer);
  visit_fields(fields, c);
  read_rollback_points(fields, c.rollback_points);
  c.trace.stride = std::max<Index>(c.trace.stride, 1);
  require_points(fields, c);
  return c;
}

template ArrayMap checkpoint_arrays(const Checkpoint<float>&);
template ArrayMap checkpoint_arrays(const Checkpoint<double>&);
template Checkpoint<float> checkpoint_from_arrays(const ArrayMap&, const std::string&);
template Checkpoint<double> checkpoint_from_arrays(const ArrayMap&, const std::string&);

}  // namespace symport
