// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/search/certificate.hpp"
#include "symport/training/run_status.hpp"
#include "symport/training/trace.hpp"

namespace symport {

/// How a run of Algorithm 1, 2 or 3 ended.
struct RunSummary {
  RunStatus status = RunStatus::step_limit;
  Index steps = 0;   ///< updates made; when diverged, until it was detected
  Index epochs = 0;  ///< completed; 0 with full batches
  /// Where it ended; with mini-batches that of the last row. When diverged, the loss at which that
  /// was detected: not finite, unless only the gradient was not.
  double final_loss = 0.0;
  double final_grad_sq = 0.0;  ///< NaN where the last row has none
  double evaluations = 0.0;    ///< in gradients (of a mini-batch), teleports included
  double seconds = 0.0;        ///< of training: not of validation, evaluation and checkpoints
  std::vector<Certificate> teleports;
  Trace trace;

  Index accepted_teleports() const;
  /// One line: "1000 steps, loss 1.2e-29, |gradient|^2 3.4e-27, 10 teleports (10 accepted), 0.2
  /// ms".
  std::string brief_report() const;
  /// Several lines, "name  value" each: all of the above, with the losses at the start and on
  /// held-out samples, the largest drift, and the first refusal.
  std::string full_report() const;
};

}  // namespace symport
