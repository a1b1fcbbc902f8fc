// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

namespace symport::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A mutation of `bytes` that is no longer than `largest`.
inline void mutate(std::string& bytes, std::size_t largest) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, largest) + 1);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size,
                                std::max<std::size_t>(largest, 1)));
}

/// A mutation behind a checksum. Formats with checksums would otherwise refuse nearly every mutant
/// at their door: `inside(text, largest)` takes the input apart, mutates one piece and puts all
/// together again with right checksums; it returns nothing when it cannot. Every other time, and
/// then, the bytes are mutated as they are.
template <class Inside>
std::size_t mutate_inside(std::uint8_t* data, std::size_t size, std::size_t largest,
                          unsigned int seed, Inside inside) {
  if (seed % 2 == 0) {
    const std::string made = inside(text_of(data, size), largest, seed / 2);
    if (!made.empty() && made.size() <= largest) {
      std::memcpy(data, made.data(), made.size());
      return made.size();
    }
  }
  return LLVMFuzzerMutate(data, size, largest);
}

}  // namespace symport::fuzz
