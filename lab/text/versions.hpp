// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/version.hpp"

namespace symport::lab {

/// What the lab is built with, besides `symport::dependencies()`.
std::vector<Dependency> lab_dependencies();

}  // namespace symport::lab
