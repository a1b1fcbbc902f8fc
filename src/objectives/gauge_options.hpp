// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/white_gauge.hpp"

namespace symport {

inline void require_good(const WhiteGaugeOptions& options) {
  const auto require = [](bool good, const char* field, double found, const char* allowed) {
    if (!good) throw InvalidArgument(field, fmt::format("{}", found), allowed);
  };
  const double damping = options.damping.value_or(0.0);
  require(damping >= 0.0 && std::isfinite(damping), "damping", damping, "a finite number >= 0");
  require(options.decay >= 0.0 && options.decay < 1.0, "decay", options.decay,
          "a number >= 0 and < 1");
  require(options.refresh >= 1, "refresh", static_cast<double>(options.refresh),
          "a whole number >= 1");
}

}  // namespace symport
