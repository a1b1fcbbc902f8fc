// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "symport/data/array.hpp"

namespace symport {

/// A field of a record that becomes a column of its table.
template <class Row>
struct Column {
  const char* name;
  std::variant<Index Row::*, double Row::*, bool Row::*> member;
};
template <class Row>
using Columns = std::vector<Column<Row>>;
/// The type of the array that a column becomes.
template <class Value>
using Stored =
    std::conditional_t<std::same_as<Value, double>, double,
                       std::conditional_t<std::same_as<Value, bool>, std::uint8_t, std::int64_t>>;

/// Puts the fields of a checkpoint into arrays. `FieldReader` has the same functions.
class FieldWriter {
 public:
  explicit FieldWriter(ArrayMap& arrays) : arrays_(arrays) {}

  void count(const std::string& name, std::integral auto value) {
    put(name, {}, std::vector<std::int64_t>{static_cast<std::int64_t>(value)});
  }
  void number(const std::string& name, double value) { put(name, {}, std::vector<double>{value}); }
  void flag(const std::string& name, bool value) {
    put(name, {}, std::vector<std::uint8_t>{static_cast<std::uint8_t>(value)});
  }
  /// All 64 of them.
  void bits(const std::string& name, std::uint64_t value);
  void text(const std::string& name, std::string_view value);
  template <Real Scalar>
  void vector(const std::string& name, const VectorOf<Scalar>& values) {
    arrays_[name] = to_array<Scalar>(values);
  }
  /// Vectors of the same length as the rows of a matrix.
  void points(const std::string& name, const std::vector<Vector>& points);
  template <class Row>
  void points(const std::string& name, const std::vector<Row>& rows, Vector Row::*member) {
    std::vector<Vector> list;
    for (const Row& row : rows) list.push_back(row.*member);
    points(name, list);
  }
  /// A text of one line for each row.
  template <class Row>
  void lines(const std::string& name, const std::vector<Row>& rows, std::string Row::*member) {
    std::string all;
    for (const Row& row : rows) all += row.*member + '\n';
    text(name, all);
  }
  /// NAME.COLUMN for each column.
  template <class Row>
  void table(const std::string& name, const std::vector<Row>& rows, const Columns<Row>& columns) {
    for (const Column<Row>& column : columns) {
      std::visit([&](auto member) { put_column(name + "." + column.name, rows, member); },
                 column.member);
    }
  }

 private:
  template <class Row, class Value>
  void put_column(const std::string& name, const std::vector<Row>& rows, Value Row::*member) {
    std::vector<Stored<Value>> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(static_cast<Stored<Value>>(row.*member));
    put(name, {static_cast<Index>(rows.size())}, std::move(values));
  }
  void put(const std::string& name, std::vector<Index> shape, Array::Values values) {
    arrays_[name] = {std::move(shape), std::move(values)};
  }

  ArrayMap& arrays_;
};

/// Takes the fields of a checkpoint from arrays and says, naming file and array, what is wrong with
/// them.
class FieldReader {
 public:
  FieldReader(const ArrayMap& arrays, const std::string& file) : arrays_(arrays), file_(file) {}

  /// A number from 0 to 2^53, which leaves room to count on.
  void count(const std::string& name, std::integral auto& value) const {
    using Integer = std::remove_reference_t<decltype(value)>;
    value = static_cast<Integer>(whole(name, list<std::int64_t>(name, 0)[0]));
  }
  void number(const std::string& name, double& value) const { value = list<double>(name, 0)[0]; }
  void flag(const std::string& name, bool& value) const {
    value = list<std::uint8_t>(name, 0)[0] != 0;
  }
  void bits(const std::string& name, std::uint64_t& value) const;
  std::string text(const std::string& name) const;
  void text(const std::string& name, std::string& value) const { value = text(name); }
  template <Real Scalar>
  void vector(const std::string& name, VectorOf<Scalar>& values) const {
    const auto& held = list<Scalar>(name, 1);
    values = Eigen::Map<const VectorOf<Scalar>>(held.data(), static_cast<Index>(held.size()));
  }
  void points(const std::string& name, std::vector<Vector>& points) const;
  /// For as many rows as there are.
  template <class Row>
  void points(const std::string& name, std::vector<Row>& rows, Vector Row::*member) const {
    std::vector<Vector> list;
    points(name, list);
    require_rows(name, list.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = std::move(list[i]);
  }
  template <class Row>
  void lines(const std::string& name, std::vector<Row>& rows, std::string Row::*member) const {
    const std::vector<std::string> all = split_lines(name);
    require_rows(name, all.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = all[i];
  }
  template <class Row>
  void table(const std::string& name, std::vector<Row>& rows, const Columns<Row>& columns) const {
    bool first = true;
    for (const Column<Row>& column : columns) {
      std::visit([&](auto member) { take_column(name + "." + column.name, rows, member, first); },
                 column.member);
      first = false;
    }
  }
  /// The lines of a text, without their ends.
  std::vector<std::string> split_lines(const std::string& name) const;

  [[noreturn]] void fail(const std::string& name, const std::string& found,
                         const std::string& allowed) const;

 private:
  /// The values of an array of that type and number of dimensions.
  template <class Value>
  const std::vector<Value>& list(const std::string& name, std::size_t dimensions) const;
  std::int64_t whole(const std::string& name, std::int64_t value) const;
  void require_rows(const std::string& name, std::size_t found, std::size_t allowed) const;

  template <class Row, class Value>
  void take_column(const std::string& name, std::vector<Row>& rows, Value Row::*member,
                   bool first) const {
    const std::vector<Stored<Value>>& values = list<Stored<Value>>(name, 1);
    if (first) rows.resize(values.size());
    require_rows(name, values.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if constexpr (std::same_as<Value, Index>) {
        rows[i].*member = whole(name, values[i]);
      } else {
        rows[i].*member = static_cast<Value>(values[i]);
      }
    }
  }

  const ArrayMap& arrays_;
  const std::string& file_;
};

}  // namespace symport
