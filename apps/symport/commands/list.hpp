// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport list`: every name that can be typed, with one line each, from the registry.
Command list_command();

}  // namespace symport::cli
