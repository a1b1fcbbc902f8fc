// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/compare/output.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// A comparison for people: a table for each problem, the performance profile, the verdicts.
std::string compare_text(const lab::compare::Comparison& comparison, const Style& style);

}  // namespace symport::cli
