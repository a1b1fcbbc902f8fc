// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "symport/core/thread_scope.hpp"

namespace symport::lab {

/// Tells, once in the life of the program, that a run has fewer threads than it was asked for.
void tell_of_fewer_threads(const ThreadScope& scope,
                           const std::function<void(const std::string&)>& tell);

}  // namespace symport::lab
