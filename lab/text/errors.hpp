// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

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

}  // namespace symport::lab
