// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "symport/core/thread_scope.hpp"
#include "symport/core/types.hpp"

namespace symport::lab {

/// What --threads takes.
Index parse_threads(const std::string& text);

/// Tells, once in the life of the program, that a run has fewer threads than it was asked for.
void tell_of_fewer_threads(const ThreadScope& scope,
                           const std::function<void(const std::string&)>& tell);

}  // namespace symport::lab
