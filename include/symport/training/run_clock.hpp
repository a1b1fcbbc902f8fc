// SPDX-License-Identifier: MIT
#pragma once

namespace symport {

/// What the seconds of a run are.
enum class RunClock {
  wall,
  /// The processor time of the thread that called: for a run with one thread what an idle machine
  /// would take, whatever else this one does. Where the platform has no such clock: `wall`.
  processor,
};

}  // namespace symport
