// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace symport::cli {

/// `symport data list|fetch|describe`: the sets that can be trained on.
Command data_command();

}  // namespace symport::cli
