// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/report/figure.hpp"
#include "lab/report/series.hpp"

/// One sentence per figure: what one should see in it, and whether it was seen, from the traces and
/// the certificates alone.
namespace symport::lab::report {

/// What is compared in a figure.
struct Measure {
  std::string column;             ///< of the traces
  std::string name;               ///< in the sentence: "loss"
  bool larger_is_better = false;  ///< an accuracy
  bool tell_time = false;         ///< say how long the runs took
};

/// Every series with teleports against the series without them that is otherwise configured alike:
/// first at equal cost, the smaller of what two runs with the same seed have spent, then in the
/// end. The rule, which the sentence states: a better median, and more than half of the seeds.
/// Without such a pair: from where to where the values went, and nothing about teleports.
Finding end_finding(const ProblemRuns& problem, const Measure& measure);

/// Whether teleports landed where the gradient is larger.
Finding gradient_finding(const ProblemRuns& problem);

/// Whether, at the same loss, the gradient is larger with teleports than without: of one run each,
/// from its first teleport on, at losses in equal ratios that both reach.
Finding same_loss_finding(const ProblemRuns& problem);

/// Whether teleports kept the loss: the largest drift against `tolerance`. `distance` is that of
/// the best trajectory's end from the minimum, told where there are no teleports.
Finding level_finding(const ProblemRuns& problem, double tolerance, double distance);

}  // namespace symport::lab::report
