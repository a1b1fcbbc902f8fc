// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport compare`: several methods on several problems, each at its best learning rate.
Command compare_command();

}  // namespace symport::cli
