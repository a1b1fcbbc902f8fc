// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"

namespace symport::lab {

/// Numbers as people type them: "-1.5e-3", "+2", spaces around. Every character must belong to the
/// number. All throw InvalidArgument (with a field that the caller replaces by its flag) that
/// quotes the text and says what is allowed.

/// A finite number.
double parse_number(std::string_view text);
/// A number > 0, or `inf`.
double parse_bound(std::string_view text);
/// A finite number > 0.
double parse_positive(std::string_view text);
/// A whole number from `smallest` to `largest`; "1e6" is one too.
Index parse_whole(std::string_view text, Index smallest = 0,
                  Index largest = std::numeric_limits<Index>::max());
std::uint64_t parse_seed(std::string_view text);
/// Finite numbers separated by commas: "-1, -1".
std::vector<double> parse_list(std::string_view text);

/// The shortest text that reads back as the same number.
std::string exact_text(double value);

/// Arithmetic makes NaNs of either sign; files have only one.
double unsigned_nan(double value);

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

}  // namespace symport::lab
