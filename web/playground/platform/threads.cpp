// SPDX-License-Identifier: MIT
#include "symport/core/thread_scope.hpp"

namespace symport {

int threads() { return 1; }

}  // namespace symport
