// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/training/trace_row.hpp"

namespace symport {

/// Watches a run: called before every update, after the teleport that precedes it. When it returns
/// false, that update is still made, and the run ends as `interrupted`.
using StepWatcher = std::function<bool(const TraceRow&)>;

}  // namespace symport
