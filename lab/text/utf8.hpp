// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace symport::lab {

/// The bytes of the character that `text` begins with; 0 where it is not UTF-8: a stray byte, one
/// missing, an overlong form, a surrogate, or a number above U+10FFFF.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace symport::lab
