// SPDX-License-Identifier: MIT
#pragma once

#include "lab/report/report.hpp"
#include "lab/reproduce/reproduction.hpp"

namespace symport::lab {

/// The page of an experiment: what one should see and whether it was seen, the expected numbers
/// next to those found, the figures along its axes or of its runs, their tables, and the file
/// itself.
report::Report experiment_report(const Reproduction& result);

/// What one should see, and by how many of the expected numbers it was: what the page and the
/// terminal say.
std::string finding_text(const Reproduction& result);

}  // namespace symport::lab
