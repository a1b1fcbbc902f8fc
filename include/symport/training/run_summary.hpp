// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/search/certificate.hpp"
#include "symport/training/run_status.hpp"
#include "symport/training/trace.hpp"

namespace symport {

/// How a run ended.
struct RunSummary {
  RunStatus status = RunStatus::step_limit;
  Index steps = 0;  ///< updates made; when diverged, the step at which it showed
  double final_loss = 0.0;
  double final_grad_sq = 0.0;
  double evaluations = 0.0;  ///< in gradients, teleports included
  double seconds = 0.0;
  std::vector<Certificate> teleports;
  Trace trace;

  Index accepted_teleports() const;
  /// One line: "1000 steps, loss 1.2e-29, |gradient|^2 3.4e-27, 10 teleports (10 accepted), 0.2
  /// ms".
  std::string brief_report() const;
};

}  // namespace symport
