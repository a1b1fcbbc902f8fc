// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace symport {

/// Whether two names are the same to somebody who types them: upper and lower case, underscores and
/// hyphens make no difference. "LeakyReLU" is leaky_relu, "cross-entropy" is cross_entropy.
bool same_name(std::string_view a, std::string_view b);

}  // namespace symport
