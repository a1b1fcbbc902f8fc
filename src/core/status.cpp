// SPDX-License-Identifier: MIT
#include "symport/core/status.hpp"

namespace symport {

InvalidArgument::InvalidArgument(std::string field, const std::string& found,
                                 const std::string& allowed)
    : std::invalid_argument(field + ": found " + found + ", allowed is " + allowed),
      field_(std::move(field)),
      detail_("found " + found + ", allowed is " + allowed) {}

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::step_limit:
      return "step_limit";
    case RunStatus::converged:
      return "converged";
    case RunStatus::diverged:
      return "diverged";
    case RunStatus::interrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace symport
