// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// Calls f(first, count) for consecutive blocks of 0 ... n - 1, so short that what one statement of
/// f leaves of them the next one finds in registers or on the way to memory: several passes over
/// long vectors become one, and waiting for one block goes on beside computing another. `count` is
/// a compile-time number for all but the last block; both kinds fit `segment(first, count)`.
template <class F>
void in_blocks(Index n, const F& f) {
  constexpr int block = 64;
  Index first = 0;
  for (; first + block <= n; first += block) f(first, Eigen::fix<block>);
  if (first < n) f(first, n - first);
}

}  // namespace symport
