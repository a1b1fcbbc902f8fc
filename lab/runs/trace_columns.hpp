// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace symport::lab {

/// The columns of a trace by name.
struct TraceColumns {
  std::string file = {};  ///< that it was read from
  std::string index;      ///< what its rows are counted by: "step" or "epoch"
  std::map<std::string, std::vector<double>> columns;

  std::size_t rows() const { return has(index) ? columns.at(index).size() : 0; }
  bool has(const std::string& name) const { return columns.contains(name); }
  /// Throws UsageError, naming the file, when there is no such column.
  const std::vector<double>& operator[](const std::string& name) const;
  /// The column that is minimised: "loss" or "train_loss".
  const std::vector<double>& loss() const;
  /// The first row whose loss is known: with a running training loss that before training is not.
  std::size_t first_loss() const;
  /// How many columns x1, x2, ... there are; 0 where the trace has no points.
  std::size_t dimension() const;
};

/// Throws UsageError, naming `file` and the line, unless every line has a number in each column,
/// and the columns are the index, the loss, `seconds`, and any others.
TraceColumns parse_trace(std::string_view csv, const std::string& file);

}  // namespace symport::lab
