// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace symport::cli {

/// "symport 0.1.0", or an object with the versions of everything the program is made of.
std::string version_text(bool json);

}  // namespace symport::cli
