// SPDX-License-Identifier: MIT
#include "lab/report/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/text/parse_numbers.hpp"

namespace symport::lab::report {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::as_expected:
      return "as expected";
    case Verdict::partly:
      return "partly";
    case Verdict::not_confirmed:
      return "not confirmed";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

std::string short_text(double value) {
  if (std::abs(value) < 1e6 && value == std::round(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", unsigned_nan(value));
}

Cell number_cell(double value) { return {short_text(value), value}; }

Cell loss_cell(RunStatus status, double loss) {
  if (status != RunStatus::diverged) return number_cell(loss);
  return {std::string(to_string(status)), loss};
}

std::string table_csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i > 0 ? "," : "") + quoted(table.columns[i].heading);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      if (i > 0) text += ',';
      text += cell.number ? exact_text(unsigned_nan(*cell.number)) : quoted(cell.text);
    }
    text += '\n';
  }
  return text;
}

}  // namespace symport::lab::report
