// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

namespace symport::lab::compare {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace symport::lab::compare
