// SPDX-License-Identifier: MIT
#include "symport/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Throws InvalidArgument where there is no such column.
std::size_t column_named(const std::vector<std::string>& columns, const std::string& name,
                         const std::string& file) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  std::string names;
  for (const std::string& column : columns) names += ", " + detail::quoted(column);
  throw InvalidArgument(file, "no column " + detail::quoted(name), "one of " + names.substr(2));
}

/// Nothing where the field is not a finite number.
std::optional<double> parsed_number(std::string_view field) {
  double value = 0.0;
  const char* last = field.data() + field.size();
  // Unlike what people type, from_chars knows no leading plus sign.
  const char* first = field.data() + (field.starts_with('+') && !field.starts_with("+-") ? 1 : 0);
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

class CsvParser {
 public:
  CsvParser(std::string_view text, std::string name, std::string label = "",
            std::vector<std::string> ignored = {})
      : rest_(text),
        name_(std::move(name)),
        label_(std::move(label)),
        ignored_(std::move(ignored)) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  CsvTable parse() {
    const std::vector<std::string> columns = header();
    const std::size_t width = columns.size();
    std::vector<bool> kept(width, true);
    for (const std::string& name : ignored_) kept[column_named(columns, name, name_)] = false;
    CsvTable table;
    for (std::size_t i = 0; i < width; ++i) {
      if (kept[i]) table.columns.push_back(columns[i]);
    }
    if (!label_.empty()) column_named(table.columns, label_, name_);
    std::vector<double> values;
    while (!rest_.empty()) {
      const std::vector<std::string_view> fields = next_line();
      if (fields.size() != width) {
        refuse(std::to_string(fields.size()) + " fields",
               std::to_string(width) + ", as in the first line");
      }
      for (std::size_t i = 0; i < width; ++i) {
        if (!kept[i]) continue;
        if (columns[i] == label_) {
          if (fields[i].empty()) refuse_field(fields[i], columns[i], "a class");
          table.words.emplace_back(fields[i]);
          values.push_back(parsed_number(fields[i]).value_or(std::nan("")));
        } else {
          values.push_back(number(fields[i], columns[i]));
        }
      }
    }
    if (values.empty()) throw InvalidArgument(name_, "no lines of numbers", "at least one");
    const auto cols = std::ssize(table.columns);
    const Index rows = static_cast<Index>(values.size()) / cols;
    table.values = Eigen::Map<const Matrix>(values.data(), cols, rows).transpose();
    return table;
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
    const bool numbers = std::all_of(columns.begin(), columns.end(),
                                     [](const std::string& name) { return parsed_number(name); });
    if (numbers) refuse("numbers", "a line of column names above them");
    for (const char separator : {';', '\t'}) {
      if (columns.size() == 1 && columns[0].find(separator) != std::string::npos) {
        refuse(separator == ';' ? "columns separated by ';'" : "columns separated by tabs",
               "columns separated by commas");
      }
    }
    std::vector<std::string> sorted = columns;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      refuse("the column name " + detail::quoted(*twice) + " twice", "each name once");
    }
    return columns;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const {
    throw InvalidArgument(name_ + ", line " + std::to_string(line_), found, allowed);
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
      refuse("text after the quoted field " + detail::quoted(field), "a comma there");
    }
    line.remove_prefix(comma);
    return trimmed(field);
  }

  [[noreturn]] void refuse_field(std::string_view field, const std::string& column,
                                 const std::string& allowed) const {
    refuse((field.empty() ? "no value" : detail::quoted(field)) + " in column " +
               detail::quoted(column),
           allowed);
  }

  double number(std::string_view field, const std::string& column) const {
    const std::optional<double> value = parsed_number(field);
    if (!value) refuse_field(field, column, "a finite number");
    return *value;
  }

  std::string_view rest_;
  std::string name_;
  std::string label_;
  std::vector<std::string> ignored_;
  std::size_t line_ = 0;
};

/// Where the column is. Throws InvalidArgument where there is none, or nothing else.
Index column_of(const CsvTable& table, const std::string& name, const std::string& file) {
  const std::size_t column = column_named(table.columns, name, file);
  if (table.columns.size() < 2) {
    throw InvalidArgument(file, "no column but " + detail::quoted(name), "at least one feature");
  }
  return static_cast<Index>(column);
}

/// All columns but one, as features x samples.
Matrix features_without(const CsvTable& table, Index column) {
  const Index right = table.values.cols() - column - 1;
  Matrix X(table.values.cols() - 1, table.values.rows());
  X.topRows(column) = table.values.leftCols(column).transpose();
  X.bottomRows(right) = table.values.rightCols(right).transpose();
  return X;
}

std::string line_of(const std::string& file, Index row) {
  return file + ", line " + std::to_string(row + 2);
}

/// The labels as whole numbers, each from -`largest_class` to `largest_class`, and with
/// `range.count` from 0 to below it.
std::vector<Index> whole_numbers(const CsvTable& table, Index column, const std::string& file,
                                 const ClassRange& range) {
  const auto largest = static_cast<double>(range.largest());
  const double smallest = range.count > 0 ? 0.0 : -largest;
  std::vector<Index> numbers;
  for (Index i = 0; i < table.values.rows(); ++i) {
    const double value = table.values(i, column);
    if (value < smallest || value > largest || value != std::floor(value)) {
      const std::string name = table.columns[static_cast<std::size_t>(column)];
      throw InvalidArgument(line_of(file, i),
                            fmt::format("{} in column {}", value, detail::quoted(name)),
                            range.count > 0 ? fmt::format("a class, 0 to {}", range.largest())
                                            : std::string("a whole number or a word"));
    }
    numbers.push_back(static_cast<Index>(value));
  }
  return numbers;
}

/// The words of a label are the same class: 1 and 1.0 are.
bool same_class(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::optional<double> number = parsed_number(a);
  return number && number == parsed_number(b);
}

std::vector<Index> named_classes(const CsvTable& table, const std::string& file,
                                 const std::vector<std::string>& names) {
  std::vector<Index> classes;
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return same_class(name, table.words[i]);
    });
    if (found == names.end()) {
      std::string known;
      for (const std::string& name : names) known += ", " + detail::quoted(name);
      throw InvalidArgument(line_of(file, static_cast<Index>(i)),
                            "the class " + detail::quoted(table.words[i]),
                            "one of " + known.substr(2));
    }
    classes.push_back(found - names.begin());
  }
  return classes;
}

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& name, const std::string& label,
                   const std::vector<std::string>& ignored) {
  return CsvParser(text, name, label, ignored).parse();
}

CsvTable read_csv(const std::filesystem::path& path, const std::string& label,
                  const std::vector<std::string>& ignored) {
  return parse_csv(detail::read_file(path), path.string(), label, ignored);
}

std::vector<std::string> csv_columns(const std::filesystem::path& path) {
  const std::string text = detail::read_file(path), name = path.string();
  return CsvParser(text, name).header();
}

SampleSet<> samples_from_csv(const CsvTable& table, const std::string& label,
                             const std::string& file, const ClassRange& range,
                             const std::vector<std::string>& class_names) {
  const Index column = column_of(table, label, file);
  SampleSet<> samples;
  samples.X = features_without(table, column);
  const bool words = table.values.col(column).array().isNaN().any();
  if (words || !class_names.empty()) {
    samples.class_names = class_names;
    if (class_names.empty()) {
      const std::set<std::string> sorted(table.words.begin(), table.words.end());
      samples.class_names.assign(sorted.begin(), sorted.end());
    }
    samples.classes = named_classes(table, file, samples.class_names);
    return samples;
  }
  samples.classes = whole_numbers(table, column, file, range);
  const std::set<Index> sorted(samples.classes.begin(), samples.classes.end());
  const std::vector<Index> numbers(sorted.begin(), sorted.end());
  if (range.count > 0 || (numbers.front() == 0 && numbers.back() == std::ssize(numbers) - 1)) {
    return samples;
  }
  for (const Index number : numbers) samples.class_names.push_back(std::to_string(number));
  for (Index& label_of : samples.classes) {
    label_of = std::lower_bound(numbers.begin(), numbers.end(), label_of) - numbers.begin();
  }
  return samples;
}

SampleSet<> regression_from_csv(const CsvTable& table, const std::string& target,
                                const std::string& file) {
  const Index column = column_of(table, target, file);
  SampleSet<> samples;
  samples.X = features_without(table, column);
  samples.Y = table.values.col(column).transpose();
  return samples;
}

}  // namespace symport
