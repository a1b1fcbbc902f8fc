// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lab/report/figure.hpp"
#include "symport/training/run_status.hpp"

namespace symport::lab::report {

struct Column {
  std::string heading;
  bool numeric = false;
};

/// A cell as people read it and, for numbers, the number itself for CSV files.
struct Cell {
  std::string text;
  std::optional<double> number = std::nullopt;
};
/// A cell with three or so digits of the number.
Cell number_cell(double value);
/// The loss at which a run ended: "diverged" where it did.
Cell loss_cell(RunStatus status, double loss);

struct Table {
  std::string id;
  std::string title;
  std::string note;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Verbatim text, folded under a heading.
struct Listing {
  std::string title;
  std::string text;
};

using Figure = std::variant<LevelSetFigure, CurveFigure, HeatMap>;

struct Section {
  std::string title;
  std::string text;
  std::vector<Figure> figures;
  std::vector<Table> tables;
  std::vector<Listing> listings;
};

/// A whole report: what `page` turns into HTML.
struct Report {
  std::string title;
  std::string text;
  std::vector<Section> sections;
  std::string footer;
  std::optional<Finding> finding = std::nullopt;  ///< about the whole
};

/// "as expected", "partly", "not confirmed", "inconclusive"
std::string_view to_string(Verdict verdict);

/// "1.2e-32", "0.1113", "1000": a number for people.
std::string short_text(double value);

/// The table with all digits, as CSV.
std::string table_csv(const Table& table);

}  // namespace symport::lab::report
