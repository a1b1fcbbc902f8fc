// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The teleportation schedule K: a set of steps (or epochs).
///
///   never          the empty set
///   5              one step
///   0,10,20        several; the parts of a list may be of any of the other kinds
///   0..40:10       0, 10, 20, 30, 40 (both ends included; `a..b` alone steps by 1)
///   every:100      0, 100, 200, ...
///   every:100+99   99, 199, 299, ...
///   auto           whenever it pays: the run decides, by what teleports have brought so far
class Schedule {
 public:
  /// The empty set, without anybody having said so.
  Schedule() = default;
  /// Throws an InvalidArgument that points at the first wrong character.
  static Schedule parse(std::string_view text);

  /// False for every t if the run decides.
  bool contains(Index t) const;
  /// The first step after t, if there is one.
  std::optional<Index> next_after(Index t) const;
  bool automatic() const { return automatic_; }
  bool empty() const { return ranges_.empty() && !automatic_; }
  /// Empty, and nobody said `never`.
  bool left_out() const { return empty() && !never_; }
  /// The text form, which `parse` reads back.
  std::string to_string() const;

 private:
  /// {first, first + stride, ...} up to and including last.
  struct Range {
    Index first = 0;
    Index last = 0;
    Index stride = 1;
  };
  friend Schedule every(Index period, Index offset);
  friend Schedule at(std::vector<Index> steps);
  friend Schedule never();
  friend Schedule when_it_pays();
  std::vector<Range> ranges_;
  bool automatic_ = false;
  bool never_ = false;
};

/// offset, offset + period, offset + 2 period, ...
Schedule every(Index period, Index offset = 0);
Schedule at(std::vector<Index> steps);
Schedule never();
Schedule when_it_pays();

}  // namespace symport
