// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport teleport`: one teleport of somebody's network, certificate on stdout.
Command teleport_command();

}  // namespace symport::cli
