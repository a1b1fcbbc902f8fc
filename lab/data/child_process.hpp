// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace symport::lab {

/// What became of another program.
struct ChildResult {
  int start_error = 0;   ///< errno, when it could not be started; ENOENT: there is no such program
  int exit_code = -1;    ///< -1: it was ended by a signal
  bool stopped = false;  ///< by us, because `keep_going` said no
  std::string output;    ///< the end of what it wrote to stdout and stderr
};

/// Runs a program (found on PATH, no shell) in a directory until it ends, with nothing on its
/// stdin. `keep_going` is called about ten times a second; when it returns false the program and
/// all that it started is asked to end, and made to after two seconds.
ChildResult run_child(const std::vector<std::string>& words, const std::filesystem::path& directory,
                      const std::function<bool()>& keep_going);

}  // namespace symport::lab
