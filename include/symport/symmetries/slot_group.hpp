// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symport/symmetries/slot.hpp"

namespace symport {

enum class GroupKind {
  scaling,         ///< positive numbers s_1 ... s_n
  general_linear,  ///< GL(n)
  orthogonal,      ///< O(n)
  signs,           ///< s_i = -1 or 1
  permutations,    ///< of n things
};
std::string_view to_string(GroupKind kind);

/// A group and the places where it acts.
struct SlotGroup {
  GroupKind kind = GroupKind::scaling;
  Index size = 0;  ///< n
  std::vector<Slot> slots{};
};

}  // namespace symport
