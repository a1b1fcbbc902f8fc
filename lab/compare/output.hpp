// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/compare/judgement.hpp"
#include "lab/report/report.hpp"

/// A comparison for programs, and as a page.
namespace symport::lab::compare {

std::string compare_json(const Comparison& comparison);
/// One line for every run: problem, method, seed, rate, what it reached at which cost, how it
/// ended.
std::string runs_csv(const Comparison& comparison);
/// Words, performance profile, and a section with median curves and the table for each problem.
report::Report compare_report(const Comparison& comparison);

/// Remarks that a reader must have: methods that do not fit, rates at the edge of the grid.
std::vector<std::string> remarks(const Comparison& comparison);
/// "tuned on 19 rates from 1e-05 to 10 with 3 other seeds: 171 runs, 1.2e+05 evaluations, 2.3 s
/// ..."
std::string tuning_text(const Comparison& comparison);

}  // namespace symport::lab::compare
