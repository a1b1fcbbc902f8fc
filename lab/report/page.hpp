// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/report/report.hpp"

namespace symport::lab::report {

/// The report as one HTML file that needs nothing else: script, style and data are inside, a
/// Content-Security-Policy forbids everything but them, and every text of the report is text in the
/// page, whatever it contains. Without scripts its figures are the pictures of `curve_svg` and
/// `level_set_svg`. The same report gives the same bytes.
std::string page(const Report& report);

/// The data of all figures and tables as JSON that may stand in HTML (no '<'): columns of numbers
/// as base64 of little-endian doubles, or {from, by, count} where that gives the same doubles.
std::string page_data(const Report& report);

/// "aGVsbG8="
std::string base64(std::string_view bytes);

}  // namespace symport::lab::report
