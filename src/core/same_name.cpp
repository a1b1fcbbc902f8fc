// SPDX-License-Identifier: MIT
#include "symport/core/same_name.hpp"

namespace symport {

bool same_name(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& rest) -> char {
    while (!rest.empty() && (rest[0] == '_' || rest[0] == '-')) rest.remove_prefix(1);
    if (rest.empty()) return '\0';
    const char c = rest[0];
    rest.remove_prefix(1);
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  for (;;) {
    const char x = next(a), y = next(b);
    if (x != y) return false;
    if (x == '\0') return a.empty() && b.empty();
  }
}

}  // namespace symport
