// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "ratio.hpp"

namespace symport::benchmarks {

enum class Goal { at_least, at_most };

/// One goal of the table in docs/measurements/performance.md.
struct Row {
  std::string id;    ///< 1a, 1b, 2a ...
  std::string work;  ///< what was measured, with its unit
  Ratio value;
  Goal kind = Goal::at_most;
  double goal = 0.0;
  std::string note{};  ///< times behind the ratio, one line

  bool met() const { return kind == Goal::at_most ? value.median <= goal : value.median >= goal; }
};

/// Prints every row as soon as it is there, and keeps it.
class Report {
 public:
  void add(Row row);
  /// A line that is no goal.
  void remark(const std::string& text);
  const std::vector<Row>& rows() const { return rows_; }
  /// {"rows": [{"id", "work", "value", "goal", "met", "spread": [low, high], "note"}], "remarks"}
  void write_json(const std::string& path) const;

 private:
  std::vector<Row> rows_;
  std::vector<std::string> remarks_;
};

}  // namespace symport::benchmarks
