// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symport::lab {

/// The name that was probably meant: the one with the smallest edit distance (insertions,
/// deletions, replacements, swaps of neighbours), if that is at most a third of the longer word's
/// length (and at least one edit is always forgiven), or the only one that begins with `text`.
/// Empty: none is near.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

/// "; did you mean 'adam'?", or nothing.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

/// "a, b, c"
std::string join(const std::vector<std::string>& names, std::string_view separator = ", ");

}  // namespace symport::lab
