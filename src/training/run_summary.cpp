// SPDX-License-Identifier: MIT
#include "symport/training/run_summary.hpp"

#include <fmt/format.h>

#include "symport/search/teleport_tally.hpp"

namespace symport {

Index RunSummary::accepted_teleports() const { return TeleportTally(teleports).accepted; }

std::string RunSummary::brief_report() const {
  std::string text = status == RunStatus::diverged ? fmt::format("diverged at step {}", steps)
                                                   : fmt::format("{} steps", steps);
  text += fmt::format(", loss {:.5g}, |gradient|^2 {:.5g}", final_loss, final_grad_sq);
  if (!teleports.empty()) {
    text += fmt::format(", {} teleports ({} accepted)", teleports.size(), accepted_teleports());
  }
  return text + (seconds < 1.0 ? fmt::format(", {:.3g} ms", 1e3 * seconds)
                               : fmt::format(", {:.3g} s", seconds));
}

}  // namespace symport
