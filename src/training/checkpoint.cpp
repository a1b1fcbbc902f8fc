// SPDX-License-Identifier: MIT
#include "symport/training/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr std::int64_t format_version = 1;

/// A record as a row of numbers: its index, its doubles, its flag if it has one.
template <class Row>
struct Columns {
  Index Row::*index;
  std::vector<double Row::*> numbers;
  bool Row::*flag = nullptr;

  std::size_t count() const { return 1 + numbers.size() + (flag ? 1 : 0); }
};

const Columns<TraceRow> trace_columns{
    &TraceRow::step,
    {&TraceRow::loss, &TraceRow::grad_sq, &TraceRow::learning_rate, &TraceRow::evaluations,
     &TraceRow::seconds, &TraceRow::valid_loss, &TraceRow::valid_accuracy},
    &TraceRow::teleported};

const Columns<EpochRow> epoch_columns{
    &EpochRow::epoch,
    {&EpochRow::train_loss, &EpochRow::valid_loss, &EpochRow::valid_accuracy, &EpochRow::grad_sq,
     &EpochRow::learning_rate, &EpochRow::evaluations, &EpochRow::seconds}};

const Columns<Certificate> certificate_columns{
    &Certificate::step,
    {&Certificate::loss_before, &Certificate::loss_after, &Certificate::drift,
     &Certificate::grad_sq_before, &Certificate::grad_sq_after, &Certificate::curvature_before,
     &Certificate::curvature_after, &Certificate::condition, &Certificate::evaluations,
     &Certificate::seconds},
    &Certificate::accepted};

template <class Row>
Array table(const std::vector<Row>& rows, const Columns<Row>& columns) {
  std::vector<double> values;
  values.reserve(rows.size() * columns.count());
  for (const Row& row : rows) {
    values.push_back(static_cast<double>(row.*columns.index));
    for (const auto number : columns.numbers) values.push_back(row.*number);
    if (columns.flag) values.push_back(row.*columns.flag ? 1.0 : 0.0);
  }
  return {{static_cast<Index>(rows.size()), static_cast<Index>(columns.count())},
          std::move(values)};
}

/// Reads arrays by name and says what is wrong with them.
class Reader {
 public:
  Reader(const ArrayMap& arrays, const std::string& file) : arrays_(arrays), file_(file) {}

  template <class Value>
  const std::vector<Value>& values(const char* name, std::size_t dimensions) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) fail(name, "no such array", "a checkpoint of symport train");
    const Array& array = found->second;
    const auto* held = std::get_if<std::vector<Value>>(&array.values);
    if (!held || array.shape.size() != dimensions || array.order != Order::c) {
      fail(name, std::string(to_string(array.dtype())) + " of shape " + shape_string(array.shape),
           std::string(to_string(Array{{}, std::vector<Value>{}}.dtype())) + " with " +
               std::to_string(dimensions) + (dimensions == 1 ? " dimension" : " dimensions"));
    }
    return *held;
  }

  template <class Value>
  const std::vector<Value>& list(const char* name, std::size_t count) const {
    const auto& held = values<Value>(name, 1);
    if (held.size() != count) {
      fail(name, std::to_string(held.size()) + " numbers", std::to_string(count) + " numbers");
    }
    return held;
  }

  template <Real Scalar>
  VectorOf<Scalar> vector(const char* name) const {
    const auto& held = values<Scalar>(name, 1);
    return Eigen::Map<const VectorOf<Scalar>>(held.data(), static_cast<Index>(held.size()));
  }

  template <class Row>
  std::vector<Row> table(const char* name, const Columns<Row>& columns) const {
    const auto& held = values<double>(name, 2);
    const auto& shape = arrays_.find(name)->second.shape;
    if (shape[1] != static_cast<Index>(columns.count())) {
      fail(name, std::to_string(shape[1]) + " columns",
           std::to_string(columns.count()) + " columns");
    }
    std::vector<Row> rows(static_cast<std::size_t>(shape[0]));
    auto value = held.begin();
    for (Row& row : rows) {
      row.*columns.index = whole(name, *value++);
      for (const auto number : columns.numbers) row.*number = *value++;
      if (columns.flag) row.*columns.flag = *value++ != 0.0;
    }
    return rows;
  }

  /// A step or epoch that stands among doubles.
  Index whole(const char* name, double value) const {
    constexpr double exact_integers = 0x1p53;
    if (!(value >= 0.0 && value <= exact_integers && value == std::floor(value))) {
      fail(name, std::to_string(value) + " as a step or epoch", "whole numbers >= 0");
    }
    return static_cast<Index>(value);
  }

  Index rows(const char* name) const { return arrays_.find(name)->second.shape[0]; }
  Index columns(const char* name) const { return arrays_.find(name)->second.shape[1]; }

  [[noreturn]] void fail(const std::string& name, const std::string& found,
                         const std::string& allowed) const {
    throw InvalidArgument(file_ + ", array " + name, found, allowed);
  }

 private:
  const ArrayMap& arrays_;
  const std::string& file_;
};

template <class Value>
Array list(std::vector<Value> values) {
  return {{static_cast<Index>(values.size())}, std::move(values)};
}

}  // namespace

template <Real Scalar>
ArrayMap checkpoint_arrays(const Checkpoint<Scalar>& c) {
  ArrayMap arrays;
  arrays["w"] = to_array<Scalar>(c.w);
  arrays["first"] = to_array<Scalar>(c.optimizer.first);
  arrays["second"] = to_array<Scalar>(c.optimizer.second);
  arrays["version"] = list<std::int64_t>({format_version});
  arrays["counters"] =
      list<std::int64_t>({c.epoch, c.step, c.updates, c.epochs_without_progress, c.optimizer.count,
                          c.trace.stride, static_cast<std::int64_t>(c.trace.limit)});
  arrays["figures"] = list<double>({c.evaluations, c.seconds, c.previous_loss, c.epoch_loss,
                                    c.best_valid_loss, c.optimizer.rate});
  arrays["random"] = list<std::int64_t>({std::bit_cast<std::int64_t>(c.random.seed),
                                         std::bit_cast<std::int64_t>(c.random.stream),
                                         std::bit_cast<std::int64_t>(c.random.position)});
  arrays["trace"] = table(c.trace.rows, trace_columns);
  arrays["epochs"] = table(c.epochs, epoch_columns);
  arrays["teleports"] = table(c.teleports, certificate_columns);

  const Index dimension = c.trace.points.empty() ? 0 : c.trace.points.front().size();
  std::vector<double> points;
  for (const Vector& point : c.trace.points) {
    points.insert(points.end(), point.begin(), point.end());
  }
  arrays["points"] = {{static_cast<Index>(c.trace.points.size()), dimension}, std::move(points)};

  std::vector<std::uint8_t> reasons;  // one a line
  for (const Certificate& certificate : c.teleports) {
    reasons.insert(reasons.end(), certificate.reason.begin(), certificate.reason.end());
    reasons.push_back('\n');
  }
  arrays["reasons"] = list(std::move(reasons));
  return arrays;
}

template <Real Scalar>
Checkpoint<Scalar> checkpoint_from_arrays(const ArrayMap& arrays, const std::string& file) {
  const Reader reader(arrays, file);
  if (const auto version = reader.list<std::int64_t>("version", 1)[0]; version != format_version) {
    reader.fail("version", std::to_string(version), std::to_string(format_version));
  }
  Checkpoint<Scalar> c;
  c.w = reader.vector<Scalar>("w");
  c.optimizer.first = reader.vector<Scalar>("first");
  c.optimizer.second = reader.vector<Scalar>("second");
  for (const auto* state : {&c.optimizer.first, &c.optimizer.second}) {
    if (state->size() != 0 && state->size() != c.w.size()) {
      reader.fail(state == &c.optimizer.first ? "first" : "second",
                  std::to_string(state->size()) + " numbers",
                  "none, or " + std::to_string(c.w.size()));
    }
  }

  const auto& counters = reader.list<std::int64_t>("counters", 7);
  for (const std::int64_t counter : counters) {
    constexpr std::int64_t largest = std::int64_t{1} << 53;  // leaves room to count on
    if (counter < 0 || counter > largest) {
      reader.fail("counters", std::to_string(counter), "numbers from 0 to 2^53");
    }
  }
  c.epoch = counters[0];
  c.step = counters[1];
  c.updates = counters[2];
  c.epochs_without_progress = counters[3];
  c.optimizer.count = counters[4];
  c.trace.stride = std::max<Index>(counters[5], 1);
  c.trace.limit = static_cast<std::size_t>(counters[6]);

  const auto& figures = reader.list<double>("figures", 6);
  c.evaluations = figures[0];
  c.seconds = figures[1];
  c.previous_loss = figures[2];
  c.epoch_loss = figures[3];
  c.best_valid_loss = figures[4];
  c.optimizer.rate = figures[5];

  const auto& random = reader.list<std::int64_t>("random", 3);
  c.random = {std::bit_cast<std::uint64_t>(random[0]), std::bit_cast<std::uint64_t>(random[1]),
              std::bit_cast<std::uint64_t>(random[2])};

  c.trace.rows = reader.table("trace", trace_columns);
  c.epochs = reader.table("epochs", epoch_columns);
  c.teleports = reader.table("teleports", certificate_columns);

  const auto& points = reader.values<double>("points", 2);
  if (const Index count = reader.rows("points"); count > 0) {
    if (count != static_cast<Index>(c.trace.rows.size())) {
      reader.fail("points", std::to_string(count) + " points", "as many as rows of the trace");
    }
    const Index dimension = reader.columns("points");
    for (Index i = 0; i < count; ++i) {
      c.trace.points.emplace_back(
          Eigen::Map<const Vector>(points.data() + i * dimension, dimension));
    }
  }

  const auto& reasons = reader.values<std::uint8_t>("reasons", 1);
  auto begin = reasons.begin();
  for (Certificate& certificate : c.teleports) {
    const auto end = std::find(begin, reasons.end(), '\n');
    if (end == reasons.end()) reader.fail("reasons", "too few lines", "one a teleport");
    certificate.reason.assign(begin, end);
    begin = end + 1;
  }
  return c;
}

template ArrayMap checkpoint_arrays(const Checkpoint<float>&);
template ArrayMap checkpoint_arrays(const Checkpoint<double>&);
template Checkpoint<float> checkpoint_from_arrays(const ArrayMap&, const std::string&);
template Checkpoint<double> checkpoint_from_arrays(const ArrayMap&, const std::string&);

}  // namespace symport
