// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace symport::fuzz {

/// While it lives, the program stops with a message when what is allocated beyond what was there at
/// its construction exceeds `base + factor * size`: the memory that a reader uses is bounded by the
/// size of its input, whatever that claims. One at a time.
class MemoryBound {
 public:
  static constexpr std::size_t base = std::size_t{16} << 20;

  MemoryBound(std::size_t size, std::size_t factor);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;
};

/// Deflate makes at most 1032 bytes of one; a vector that grows holds them up to three times.
constexpr std::size_t compressed = 3 * 1032;
/// A character may become an element of 8 bytes in a few vectors at once.
constexpr std::size_t plain = 256;

/// Stops the program: `what` should have been true.
[[noreturn]] void broken(const char* what);

inline void require(bool truth, const char* what) {
  if (!truth) broken(what);
}

}  // namespace symport::fuzz
