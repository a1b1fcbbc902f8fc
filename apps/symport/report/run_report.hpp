// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"
#include "report/run_reader.hpp"

namespace symport::cli::report {

/// The report on some runs: a section for each problem, with its figures, the table of its runs,
/// the certificates of all teleports, and the configurations. An empty `title` is replaced by one.
Report run_report(const std::vector<Run>& runs, const std::string& title);

}  // namespace symport::cli::report
