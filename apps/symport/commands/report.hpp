// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport report DIR...`: the runs of some directories as one HTML file, and as SVG files.
Command report_command();

}  // namespace symport::cli
