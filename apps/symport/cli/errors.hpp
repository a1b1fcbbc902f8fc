// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "lab/text/errors.hpp"

namespace symport::cli {

/// What the program returns; others script against it.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,  ///< a numerical failure, a failed check, or a result that could not be written
  exit_usage = 2,   ///< bad usage or input; nothing was written
  exit_interrupted = 130,
};

/// Does both, also when one of them cannot write; the failure is thrown on when both were tried.
template <class First, class Second>
void do_both(const First& first, const Second& second) {
  try {
    first();
  } catch (const lab::OutputError&) {
    second();
    throw;
  }
  second();
}

/// Runs `action`; whatever it throws becomes a message on stderr, headed by `program` (the words
/// that were typed, "symport optimize"), and an exit code.
int guarded(const std::string& program, const std::function<int()>& action);

}  // namespace symport::cli
