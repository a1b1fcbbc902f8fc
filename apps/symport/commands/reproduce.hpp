// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport reproduce [FIGURE...]`: runs experiments and compares what comes out with what should.
Command reproduce_command();

}  // namespace symport::cli
