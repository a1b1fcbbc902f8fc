// SPDX-License-Identifier: MIT
#include "lab/options/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace symport::lab {

void tell_of_fewer_threads(const ThreadScope& scope,
                           const std::function<void(const std::string&)>& tell) {
  static std::atomic_flag told;
  if (scope.running() >= scope.requested() || told.test_and_set()) return;
  const bool refused = scope.running() < std::min(scope.requested(), processors());
  tell(fmt::format("cannot start {} threads; running with {} ({}), the result is the same",
                   scope.requested(), scope.running(),
                   refused ? "the system allows no more" : "one for every processor"));
}

}  // namespace symport::lab
