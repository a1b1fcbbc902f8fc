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

/// An element of a product of groups, or of its Lie algebra: one matrix per group.
///
///   kind                        element                           algebra
///   scaling                     n x 1: s                          n x 1: log s
///   general_linear, orthogonal  n x n: g                          n x n: T (skew for orthogonal)
///   signs                       n x 1: the signs                  none: 0 x 0
///   permutations                n x 1: where entry i comes from   none: 0 x 0
using GroupMatrices = std::vector<Matrix>;

/// An element with its inverse. Both are kept, so that neither has to be found from the other by
/// solving equations: exp(T) and exp(-T) are as exact as each other.
struct GroupElement {
  GroupMatrices g, inverse;
};

}  // namespace symport
