// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/types.hpp"

namespace symport {

inline void require_fraction(const char* field, double value) {
  if (!(value >= 0 && value < 1)) {
    throw InvalidArgument(field, fmt::format("{}", value), "a number >= 0 and < 1");
  }
}

inline void require_positive(const char* field, double value) {
  if (!(value > 0 && std::isfinite(value))) {
    throw InvalidArgument(field, fmt::format("{}", value), "a finite number > 0");
  }
}

inline void require_not_negative(const char* field, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw InvalidArgument(field, fmt::format("{}", value), "a finite number >= 0");
  }
}

inline void require_count(const char* field, Index value) {
  if (value < 1) throw InvalidArgument(field, fmt::format("{}", value), "a whole number >= 1");
}

}  // namespace symport
