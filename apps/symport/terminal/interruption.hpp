// SPDX-License-Identifier: MIT
#pragma once

namespace symport::cli {

/// From now on SIGINT, SIGTERM and SIGHUP end the program with this exit code: at once, or as a
/// `GracefulStop` says. Signals that are ignored already (nohup) stay so.
void watch_for_interruption(int exit_code_of_interrupted);

/// While one lives, the first such signal only asks to stop (`interrupted()`), and the second ends
/// the program. For work that asks often, and for writing results: everything else, which would
/// not notice, is ended by the first.
class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
};

bool interrupted();

}  // namespace symport::cli
