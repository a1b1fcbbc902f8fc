// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "properties/exact_loss.hpp"

namespace symport::testing {

/// What became of many teleports, by symmetry and precision.
class Tally {
 public:
  struct Row {
    long accepted = 0, refused = 0;
    long by_rounding = 0;      ///< accepted ones that the tolerance alone would have refused
    double worst_drift = 0.0;  ///< of the accepted, by `LossChange`
    long total() const { return accepted + refused; }
  };

  void refused(const std::string& name) { ++rows_[name].refused; }
  void accepted(const std::string& name, const LossChange& change) {
    Row& row = rows_[name];
    ++row.accepted;
    row.by_rounding += change.rounding > 0;
    row.worst_drift = std::max(row.worst_drift, change.drift());
  }
  /// Accepted where drift is not asked about.
  void accepted(const std::string& name) { ++rows_[name].accepted; }

  const std::map<std::string, Row>& rows() const { return rows_; }
  long total() const {
    long sum = 0;
    for (const auto& [name, row] : rows_) sum += row.total();
    return sum;
  }
  std::string table() const {
    std::string text =
        fmt::format("{:<28}{:>10}{:>10}{:>13}{:>10}{:>14}\n", "symmetry, precision", "teleports",
                    "accepted", "by rounding", "refused", "worst drift");
    for (const auto& [name, row] : rows_) {
      text += fmt::format("{:<28}{:>10}{:>10}{:>13}{:>10}{:>14.3g}\n", name, row.total(),
                          row.accepted, row.by_rounding, row.refused, row.worst_drift);
    }
    return text + fmt::format("{} teleports\n", total());
  }

 private:
  std::map<std::string, Row> rows_;
};

}  // namespace symport::testing
