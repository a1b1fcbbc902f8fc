// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stdexcept>

namespace symport {

/// Asked now and then by long work whether to go on. None: it goes on.
using KeepGoing = std::function<bool()>;

/// Thrown in the middle of work when a KeepGoing said no; what the work was to change is as it was
/// before.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

inline void require_going_on(const KeepGoing& keep_going) {
  if (keep_going && !keep_going()) throw Interrupted();
}

}  // namespace symport
