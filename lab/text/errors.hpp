// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

/// Bad usage or input: names the flag, file or key, what was found, and what is allowed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// "--steps: found '-5', allowed is a whole number >= 0"
  UsageError(const std::string& origin, const std::string& detail)
      : std::runtime_error(origin + ": " + detail) {}
};

/// Bad usage of one option of a specification. Whoever knows where the option was given (a flag, a
/// line of a file) reports that place instead of the name: see `Arguments::explained`.
class OptionError : public UsageError {
 public:
  OptionError(std::string option, std::string detail)
      : UsageError(option, detail), option_(std::move(option)), detail_(std::move(detail)) {}

  const std::string& option() const { return option_; }
  const std::string& detail() const { return detail_; }

 private:
  std::string option_, detail_;
};

/// A result that could not be written (disk full, permissions lost on the way).
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls `action`; an InvalidArgument about one of the library's fields becomes a UsageError about
/// `origin`, the flag or key that the user knows.
template <class Action>
decltype(auto) with_origin(const std::string& origin, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const InvalidArgument& error) {
    throw UsageError(origin, error.detail());
  }
}

/// The same for an option of a specification.
template <class Action>
decltype(auto) for_option(const std::string& option, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const InvalidArgument& error) {
    throw OptionError(option, error.detail());
  }
}

}  // namespace symport::lab
