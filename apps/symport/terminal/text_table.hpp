// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terminal/terminal.hpp"

namespace symport::cli {

/// A table of plain text with aligned columns.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns; missing ones are empty.
  void add(std::vector<std::string> cells);
  /// A free line, to part groups of rows.
  void add_gap() { rows_.emplace_back(); }
  /// Each line ends with a newline and has no trailing blanks.
  std::string text(const Style& style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace symport::cli
