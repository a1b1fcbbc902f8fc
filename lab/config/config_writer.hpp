// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/config/config_value.hpp"

namespace symport::lab {

/// The heading of every run's config.toml begins with this.
inline constexpr const char* run_heading = "A run of symport";

/// TOML that `parse_config` reads back to the same values. `heading` becomes a comment. Throws
/// OptionError for a text that is not UTF-8, which TOML cannot hold.
std::string config_text(const std::string& heading, const std::vector<ConfigEntry>& entries);

}  // namespace symport::lab
