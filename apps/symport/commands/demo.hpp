// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport demo`, and `symport` alone: the paper's test functions with and without teleportation,
/// in one table and one run directory.
Command demo_command();

}  // namespace symport::cli
