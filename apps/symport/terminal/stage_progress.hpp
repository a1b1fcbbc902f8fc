// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

namespace symport::cli {

/// What a job of several stages is at, on stderr: on a terminal one line that is renewed, with the
/// seconds since the stage began, and erased at the end; elsewhere a line per stage.
class StageProgress {
 public:
  StageProgress(std::string title, bool shown);
  ~StageProgress();
  StageProgress(const StageProgress&) = delete;
  StageProgress& operator=(const StageProgress&) = delete;

  /// "downloading", "verifying 3 of 4"
  void begin(std::string stage);
  /// To be called often; renews the line on a terminal.
  void tick();

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  std::string stage_;
  Clock::time_point began_{};
  Clock::time_point next_{};
  bool shown_;
  bool on_terminal_;
  bool drawn_ = false;  ///< there is a line to erase
};

}  // namespace symport::cli
