// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/report/report.hpp"
#include "lab/runs/run_record.hpp"

namespace symport::lab::report {

/// The report on some runs: a section for each problem, with its figures, the table of its runs,
/// the certificates of all teleports, and the configurations. An empty `title` is replaced by one;
/// `prefix` begins the names of all figures and tables.
Report run_report(const std::vector<RunRecord>& runs, const std::string& title,
                  const std::string& prefix = "");

/// What makes a page: the program's version and the machine.
std::string report_footer();

}  // namespace symport::lab::report
