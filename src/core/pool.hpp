// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace symport {

/// Threads that `run_parts` divides work among, the calling one included; at least 1.
void set_pool_threads(int count);
int pool_threads();

/// Calls work(0), ..., work(parts - 1), parts <= pool_threads(), at the same time, and returns when
/// all are done. `work` must not throw. When another caller has the threads, the parts are done one
/// after the other by the caller: which parts there are never depends on who is busy.
void run_parts(int parts, const std::function<void(int)>& work);

}  // namespace symport
