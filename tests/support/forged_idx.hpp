// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symport::test {

inline std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

inline std::string forged_idx(const std::vector<std::uint32_t>& shape, const std::string& values,
                              int type = 8) {
  std::string bytes{'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape) bytes += big_endian(extent);
  return bytes + values;
}

}  // namespace symport::test
