// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>

namespace symport {

/// The seconds that a run spends on training. It runs from its construction.
class TrainingClock {
 public:
  /// `before`: what was spent before the run was resumed.
  explicit TrainingClock(double before) : before_(before), began_(Clock::now()) {}

  double seconds() const {
    return began_ ? before_ + std::chrono::duration<double>(Clock::now() - *began_).count()
                  : before_;
  }
  /// Does something that is no training, like validation, while the clock stands still.
  template <class Work>
  void pause(const Work& work) {
    before_ = seconds();
    began_.reset();
    work();
    began_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double before_;
  std::optional<Clock::time_point> began_;
};

}  // namespace symport
