// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace symport::lab {

/// A function that somebody's program brought along, "own:NAME", not one of `functions()`: runs on
/// it can be written and reported, not repeated.
inline bool is_own_function(std::string_view specification) {
  return specification.starts_with("own:");
}

}  // namespace symport::lab
