// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport::cli {

/// What the program returns; others script against it.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,  ///< a numerical failure, a failed check, or a result that could not be written
  exit_usage = 2,   ///< bad usage or input; nothing was written
  exit_interrupted = 130,
};

/// Bad usage or input, at the edge: says which flag, file or key, what was found, what is allowed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// "--steps: found '-5', allowed is a whole number >= 0"
  UsageError(const std::string& origin, const std::string& detail)
      : std::runtime_error(origin + ": " + detail) {}
};

/// A result that could not be written (disk full, permissions lost on the way).
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls `action`; a complaint of the library about one of its fields becomes one about `origin`,
/// the flag or key that the user knows.
template <class Action>
decltype(auto) blaming(const std::string& origin, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const InvalidArgument& error) {
    throw UsageError(origin, error.detail());
  }
}

/// Does both, also when one of them cannot write; the failure is thrown on when both were tried.
template <class First, class Second>
void do_both(const First& first, const Second& second) {
  try {
    first();
  } catch (const OutputError&) {
    second();
    throw;
  }
  second();
}

/// Runs `action`; whatever it throws becomes a message on stderr, headed by `program` (the words
/// that were typed, "symport optimize"), and an exit code.
int guarded(const std::string& program, const std::function<int()>& action);

}  // namespace symport::cli
