// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/options/arguments.hpp"
#include "lab/options/option.hpp"

namespace symport::playground {

/// What was typed after `symport optimize` or `symport train`: words like "--lr", "0.1",
/// "--round-trip=metric", or a function. Throws UsageError for an option that is not in the list.
lab::Arguments arguments_of(const std::vector<std::string>& words,
                            const std::vector<lab::Option>& options);

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace symport::playground
