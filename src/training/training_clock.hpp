// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <ctime>
#include <optional>

#include "symport/training/run_clock.hpp"

namespace symport {

/// The seconds that a run spends on training. It runs from its construction.
class TrainingClock {
 public:
  /// `before`: what was spent before the run was resumed.
  TrainingClock(RunClock kind, double before) : kind_(kind), before_(before), began_(now()) {}

  double seconds() const { return began_ ? before_ + (now() - *began_) : before_; }
  /// Does something that is no training, like validation, while the clock stands still.
  template <class Work>
  void pause(const Work& work) {
    before_ = seconds();
    began_.reset();
    work();
    began_ = now();
  }

 private:
  double now() const {
#ifdef CLOCK_THREAD_CPUTIME_ID
    if (kind_ == RunClock::processor) {
      timespec used{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    }
#endif
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since_boot).count();
  }

  RunClock kind_;
  double before_;
  std::optional<double> began_;
};

}  // namespace symport
