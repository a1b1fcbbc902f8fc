// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symport {

/// The version of this library, "major.minor.patch".
std::string_view version();

struct Dependency {
  std::string name;
  std::string version;
};

/// What the library was built with or, where the dependency can tell, is running on.
std::vector<Dependency> dependencies();

}  // namespace symport
