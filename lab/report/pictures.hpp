// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/report/report.hpp"

namespace symport::lab::report {

/// Every figure of a report as SVG, by file name: "loss.svg" and, for curves, one for each further
/// horizontal axis ("loss-seconds.svg").
std::vector<std::pair<std::string, std::string>> pictures(const Report& report);

}  // namespace symport::lab::report
