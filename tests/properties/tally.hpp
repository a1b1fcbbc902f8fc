// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace symport::testing {

/// What became of many teleports, by symmetry and precision.
class Tally {
 public:
  struct Row {
    long accepted = 0, refused = 0;
    double worst_drift = 0.0;  ///< of the accepted, by `exact_drift`
    long total() const { return accepted + refused; }
  };

  void refused(const std::string& name) { ++rows_[name].refused; }
  void accepted(const std::string& name, double drift) {
    Row& row = rows_[name];
    ++row.accepted;
    row.worst_drift = std::max(row.worst_drift, drift);
  }

  const std::map<std::string, Row>& rows() const { return rows_; }
  long total() const {
    long sum = 0;
    for (const auto& [name, row] : rows_) sum += row.total();
    return sum;
  }
  std::string table() const {
    std::string text = fmt::format("{:<28}{:>10}{:>10}{:>10}{:>14}\n", "symmetry, precision",
                                   "teleports", "accepted", "refused", "worst drift");
    for (const auto& [name, row] : rows_) {
      text += fmt::format("{:<28}{:>10}{:>10}{:>10}{:>14.3g}\n", name, row.total(), row.accepted,
                          row.refused, row.worst_drift);
    }
    return text + fmt::format("{} teleports\n", total());
  }

 private:
  std::map<std::string, Row> rows_;
};

}  // namespace symport::testing
