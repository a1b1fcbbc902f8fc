// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "symport/training/run_summary.hpp"

namespace symport::playground {

/// A part of the plane.
struct View {
  double x0 = 0.0, y0 = 0.0, x1 = 1.0, y1 = 1.0;
  int columns = 2, rows = 2;  ///< of sample points, corners included
};

/// What a page asks of a run. Numbers are returned as flat lists; each function documents its
/// layout.
class Play {
 public:
  virtual ~Play() = default;

  /// Lines "key<tab>value" about the problem and what was left open in the options.
  virtual std::string about() const = 0;
  /// Runs from the start to the end; asked before every step whether to go on.
  virtual void run(const std::function<bool()>& goes_on) = 0;
  /// Of what has been run so far.
  const RunSummary& summary() const { return summary_; }

  /// Of every row: step, loss, |gradient|^2, learning rate, evaluations, teleported; of functions
  /// of two variables also x1, x2 (else NaN).
  std::vector<double> trace() const;
  static constexpr int trace_columns = 8;
  /// Of every teleport: step, accepted, loss before and after, |gradient|^2 before and after,
  /// condition, evaluations, x1 and x2 before and after (NaN where they are not kept).
  std::vector<double> teleports() const;
  static constexpr int teleport_columns = 12;
  /// Why each teleport was made or refused, one line each.
  std::string reasons() const;

 protected:
  RunSummary summary_;
};

}  // namespace symport::playground
