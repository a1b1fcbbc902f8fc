// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace symport {

/// A number that is known to lie between two others; if they are equal, it is known. A cost that
/// was not reached within a budget B is {B, infinity}.
struct Bounds {
  double low = 0.0;
  double high = 0.0;
  bool operator==(const Bounds&) const = default;
};

struct MedianInterval {
  Bounds median;          ///< of the sample, as far as its bounds tell
  Bounds interval;        ///< holds the population's median with at least the confidence asked for
  double coverage = 1.0;  ///< the probability with which it does
};

/// The median and its exact confidence interval from order statistics (the sign test turned
/// around): whatever the distribution,
///
///   P( x_(k) <= median <= x_(n+1-k) ) >= 1 - 2 P( Bin(n, 1/2) <= k - 1 ),
///
/// with the largest k for which that is at least `confidence`. Numbers known only by bounds enter
/// with their lower bounds at the lower end and their upper bounds at the upper end, so none has to
/// be dropped and the interval is never too short. With fewer numbers than the confidence needs (6
/// for 95 %) the interval is the whole line.
///
/// Throws InvalidArgument for an empty sample, a bound that is NaN, low > high, or a confidence
/// outside (0, 1).
MedianInterval median_interval(const std::vector<Bounds>& sample, double confidence = 0.95);

/// The median of the paired ratios baseline_i / method_i (above 1: the method is better) with its
/// interval; costs are positive and may be censored. In logarithms, so that a/b and b/a give
/// reciprocal answers. Throws InvalidArgument as above, for costs that are not positive, and for
/// samples of different size.
MedianInterval paired_ratio(const std::vector<Bounds>& baseline, const std::vector<Bounds>& method,
                            double confidence = 0.95);

}  // namespace symport
