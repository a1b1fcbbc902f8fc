// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/compare/judgement.hpp"

namespace symport::lab::compare {

/// A row of a problem's table: one method over all seeds.
struct Summary {
  std::size_t reached = 0;
  MedianInterval steps{}, evaluations{}, seconds{};  ///< to the target; infinity: not reached
  MedianInterval last_loss{};
  Index teleports = 0, accepted = 0, refused = 0;
  std::size_t diverged = 0;        ///< before the target
  std::size_t diverged_later = 0;  ///< after it
  double drift = 0.0;
  bool loss_invariant = true;
  std::string refusal{};  ///< the reason of the first refusal
};

Summary summary_of(const Comparison& comparison, const Entry& entry);

/// The median loss at the end: "0.0312"; "diverged" where half of the runs or more did.
std::string last_loss_text(const Summary& summary);
/// "312 [280, 340]"; "not reached" where the median is infinite.
std::string spread_text(const MedianInterval& value);

}  // namespace symport::lab::compare
