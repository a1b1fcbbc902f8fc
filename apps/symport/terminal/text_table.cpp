// SPDX-License-Identifier: MIT
#include "terminal/text_table.hpp"

#include <algorithm>

namespace symport::cli {

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(const Style& style) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) {
      if (!row.empty()) widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += "  ";
      const std::string blanks(widths[i] - cells[i].size(), ' ');
      text += columns_[i].align == Align::left ? cells[i] + blanks : blanks + cells[i];
    }
    return text.erase(text.find_last_not_of(' ') + 1);
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = style.bold(line(titles)) + "\n";
  for (const auto& row : rows_) text += line(row) + "\n";
  return text;
}

}  // namespace symport::cli
