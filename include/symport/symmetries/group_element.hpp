// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// An element of a product of groups, or of its Lie algebra: one matrix per group.
///
///   kind                        element                           algebra
///   scaling                     n x 1: s                          n x 1: log s
///   general_linear, orthogonal  n x n: g                          n x n: T (skew for orthogonal)
///   signs                       n x 1: the signs                  none: 0 x 0
///   permutations                n x 1: where entry i comes from   none: 0 x 0
using GroupMatrices = std::vector<Matrix>;

/// An element with its inverse. Both are kept, so that neither has to be computed from the other by
/// solving equations: exp(T) and exp(-T) are equally accurate.
struct GroupElement {
  GroupMatrices g, inverse;
};

}  // namespace symport
