// SPDX-License-Identifier: MIT
#include "symport/data/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  CsvTable parse() {
    CsvTable table;
    table.columns = header();
    const std::size_t width = table.columns.size();
    std::vector<double> values;
    while (!rest_.empty()) {
      const std::vector<std::string_view> fields = next_line();
      if (fields.size() != width) {
        refuse(std::to_string(fields.size()) + " fields",
               std::to_string(width) + ", as in the first line");
      }
      for (std::size_t i = 0; i < width; ++i) values.push_back(number(fields[i], table.columns[i]));
    }
    if (values.empty()) throw InvalidArgument(name_, "no lines of numbers", "at least one");
    const auto cols = static_cast<Index>(width);
    const Index rows = static_cast<Index>(values.size()) / cols;
    table.values = Eigen::Map<const Matrix>(values.data(), cols, rows).transpose();
    return table;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const {
    throw InvalidArgument(name_ + ", line " + std::to_string(line_), found, allowed);
  }

  std::vector<std::string> header() {
    if (rest_.empty()) throw InvalidArgument(name_, "an empty file", "a line of column names");
    std::vector<std::string> columns;
    for (const std::string_view column : next_line()) {
      if (column.empty()) {
        refuse("no name for column " + std::to_string(columns.size() + 1), "a name for each");
      }
      columns.emplace_back(column);
    }
    std::vector<std::string> sorted = columns;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      refuse("the column name " + detail::quoted(*twice) + " twice", "each name once");
    }
    return columns;
  }

  /// The fields of the next line, without their quotes and the spaces around them.
  std::vector<std::string_view> next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) refuse("a blank line", "numbers in every line");

    std::vector<std::string_view> fields;
    for (;;) {
      fields.push_back(take_field(line));
      if (line.empty()) return fields;
      line.remove_prefix(1);  // the comma
    }
  }

  /// The field at the front of `line`, which then begins with its comma or is empty.
  std::string_view take_field(std::string_view& line) const {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] != '"') {
      const std::size_t comma = std::min(line.find(','), line.size());
      const std::string_view field = trimmed(line.substr(0, comma));
      if (field.find('"') != std::string_view::npos) {
        refuse("a quote inside the field " + detail::quoted(field), "quotes around whole fields");
      }
      line.remove_prefix(comma);
      return field;
    }
    const std::size_t close = line.find('"', first + 1);
    if (close == std::string_view::npos) refuse("a quote that is not closed", "both quotes");
    const std::string_view field = line.substr(first + 1, close - first - 1);
    line.remove_prefix(close + 1);
    const std::size_t comma = std::min(line.find(','), line.size());
    if (!trimmed(line.substr(0, comma)).empty()) {
      refuse("text behind the quoted field " + detail::quoted(field), "a comma there");
    }
    line.remove_prefix(comma);
    return trimmed(field);
  }

  double number(std::string_view field, const std::string& column) const {
    double value = 0.0;
    const char* last = field.data() + field.size();
    // Unlike what people type, from_chars knows no leading plus sign.
    const char* first = field.data() + (field.starts_with('+') && !field.starts_with("+-") ? 1 : 0);
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last || !std::isfinite(value)) {
      refuse((field.empty() ? "no value" : detail::quoted(field)) + " in column " +
                 detail::quoted(column),
             "a finite number");
    }
    return value;
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 0;
};

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& name) {
  return CsvParser(text, name).parse();
}

CsvTable read_csv(const std::filesystem::path& path) {
  return parse_csv(detail::read_file(path), path.string());
}

SampleSet<> samples_from_csv(const CsvTable& table, const std::string& label,
                             const std::string& file, const ClassRange& range) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), label);
  if (found == table.columns.end()) {
    std::string names;
    for (const std::string& column : table.columns) names += ", " + detail::quoted(column);
    throw InvalidArgument(file, "no column " + detail::quoted(label), "one of " + names.substr(2));
  }
  if (table.columns.size() < 2) {
    throw InvalidArgument(file, "no column but " + detail::quoted(label), "at least one feature");
  }
  const Index column = found - table.columns.begin();
  const auto largest = static_cast<double>(range.largest());

  SampleSet<> samples;
  for (Index i = 0; i < table.values.rows(); ++i) {
    const double value = table.values(i, column);
    if (value < 0 || value > largest || value != std::floor(value)) {
      throw InvalidArgument(file + ", line " + std::to_string(i + 2),
                            std::to_string(value) + " in column " + detail::quoted(label),
                            "a class, 0 to " + std::to_string(range.largest()));
    }
    samples.classes.push_back(static_cast<Index>(value));
  }
  const Index right = table.values.cols() - column - 1;
  samples.X.resize(table.values.cols() - 1, table.values.rows());
  samples.X.topRows(column) = table.values.leftCols(column).transpose();
  samples.X.bottomRows(right) = table.values.rightCols(right).transpose();
  return samples;
}

}  // namespace symport
