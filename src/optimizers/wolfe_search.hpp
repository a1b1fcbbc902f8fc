// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/core/types.hpp"

namespace symport {

/// phi(t) = L(w + t d) and its derivative.
struct LineSample {
  double t = 0.0;
  double value = 0.0;
  double slope = 0.0;
};

struct WolfeOptions {
  double decrease = 1e-3;  ///< phi(t) <= phi(0) + decrease t phi'(0)
  double slope = 0.9;      ///< |phi'(t)| <= slope |phi'(0)|
  double width = 0.1;      ///< of the interval, relative to its upper end, at which to give up
  Index max_trials = 20;
};

struct WolfeOutcome {
  bool moved = false;  ///< `best` is lower than phi(0), whether or not both conditions hold
  LineSample best;
  Index trials = 0;
};

/// A step length with both conditions of Wolfe in the strong form, by the method of More and
/// Thuente (1994, "Line search algorithms with guaranteed sufficient decrease"): a bracket that
/// shrinks around a minimiser of phi(t) - phi(0) - decrease t phi'(0), and of phi once such a point
/// has been passed, by cubic and secant steps. Where phi is not finite the step is shortened.
///
/// `start` is phi(0) with a negative slope, `first` the first trial. Where rounding or
/// `max_trials` ends the search, the lowest point seen is returned.
WolfeOutcome wolfe_search(const std::function<LineSample(double t)>& phi, const LineSample& start,
                          double first, const WolfeOptions& options);

}  // namespace symport
