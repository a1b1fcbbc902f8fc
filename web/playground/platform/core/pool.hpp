// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace symport {

/// Stands in for src/core/pool.hpp where there are no threads: every part is done by the caller.
inline void run_parts(int count, const std::function<void(int)>& work) {
  for (int part = 0; part < count; ++part) work(part);
}

}  // namespace symport
