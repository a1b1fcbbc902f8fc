// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parts.hpp"

namespace symport::benchmarks {

/// Work of ours and the same work of the frameworks, measured in turn.
///
/// A framework that cannot do the work is left out, and a remark says why.
class Contest {
 public:
  using Check = std::function<void(const Framework&, const std::vector<double>& answer)>;

  explicit Contest(Bench& bench) : bench_(bench) {}

  /// Adds a kind of work of ours; returns its number. All of ours come before those of others.
  std::size_t ours(std::function<double()> seconds);
  /// Adds the answers to a command of all frameworks, `check`ed first; returns which work this is.
  /// `units`: in which the work of one answer is counted, as in `ratio`.
  std::size_t theirs(const std::string& command, double units, const Check& check);
  void run(int rounds);

  /// Between two kinds of ours.
  Ratio ratio(std::size_t a, std::size_t b, double units_a = 1.0, double units_b = 1.0) const {
    return times_->ratio(a, b, units_a, units_b);
  }
  double milliseconds(std::size_t kind, double units = 1.0) const {
    return 1e3 * times_->median_seconds(kind) / units;
  }

  /// What a row of the table says besides the frameworks' times.
  struct Rows {
    std::string work;  ///< without who is compared
    std::size_t ours;  ///< the kind compared with, of so many units
    double units = 1.0;
    double goal = 1.0;  ///< the time of the framework over ours, at least
    std::size_t theirs = 0;
  };
  /// One row: the fastest framework over ours, with all of them in the note.
  void add_fastest(const std::string& id, const Rows& rows) const;
  /// One row for each framework.
  void add_each(const std::array<const char*, 3>& ids, const Rows& rows) const;

 private:
  struct Entry {
    std::size_t framework, theirs, kind;
    double units;
  };
  std::vector<Entry> entries_of(std::size_t theirs) const;

  Bench& bench_;
  std::vector<std::function<double()>> work_;
  std::vector<Entry> entries_;
  std::size_t commands_ = 0;
  std::optional<Alternating> times_;
};

}  // namespace symport::benchmarks
