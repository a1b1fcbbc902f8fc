// SPDX-License-Identifier: MIT
#include "symport/training/run_status.hpp"

namespace symport {

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
