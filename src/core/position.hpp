// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "symport/core/types.hpp"

namespace symport {

/// Layer m as a place in a std::vector.
inline std::size_t at(Index m) { return static_cast<std::size_t>(m); }

}  // namespace symport
