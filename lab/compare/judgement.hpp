// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/compare/comparison.hpp"
#include "symport/statistics/median_interval.hpp"
#include "symport/statistics/performance_profile.hpp"

namespace symport::lab::compare {

/// A gain below this is not worth the trouble: a method whose speed-up is known to be smaller did
/// not help.
inline constexpr double worthwhile = 1.1;

enum class Effect { helped, did_not_help, cannot_tell };
std::string_view to_string(Effect outcome);

/// `helped` when the whole interval is above 1, `did_not_help` when it ends below `worthwhile`.
Effect outcome_of(const MedianInterval& speed_up);

/// How often a method was surely faster than another one, and how often surely slower: an
/// unfinished run costs more than its budget, and nobody knows how much.
struct PairCounts {
  std::size_t faster = 0, slower = 0, pairs = 0;

  /// Costs of the same tasks.
  PairCounts(const std::vector<Bounds>& method, const std::vector<Bounds>& baseline);
  /// "slower on all 5 seeds", "faster on 3 and slower on 2 of 6 seeds"; `tasks` are more than one.
  std::string text(const std::string& tasks) const;
};

/// What can be said about a method that teleports, from its pairs with a plain one: runs with the
/// same seed on the same problem.
struct Judgement {
  std::string method;
  std::string problem;        ///< empty: all
  std::string baseline;       ///< of which method it is the speed-up; empty: each problem's best
  bool best = true;           ///< that is the best plain method, not only the same optimizer
  MedianInterval speed_up{};  ///< cost of the baseline / cost of the method, in the budget's unit
  std::size_t pairs = 0;
  std::size_t reached = 0, baseline_reached = 0, neither = 0;
  Effect effect = Effect::cannot_tell;
  std::string text{};  ///< in words
};

/// Against the best plain method of each problem, against the plain form of the same optimizer
/// where that is another one, and over all problems where there are several.
std::vector<Judgement> judgements(const Comparison& comparison);

/// The plain method with the most runs that reach the target, then the lowest median cost, then the
/// lowest median loss at the end. It is chosen on the runs that are reported: a choice in favour of
/// plain methods. Nothing where none fits.
std::optional<std::size_t> best_plain(const Comparison& comparison, const ProblemResult& problem);

/// A number of every trial: steps, evaluations or seconds to the target, infinity where it was not
/// reached.
std::vector<double> to_target(const Entry& entry, double Cost::*number);
/// Median and interval of such numbers.
MedianInterval median_of(const std::vector<double>& values, double confidence);

/// Over all pairs of problem and seed, in the budget's unit; columns are the methods.
PerformanceProfile profile_of(const Comparison& comparison);

/// "3.2 [2.1, 5]"; what is not bounded "at least 3.2 [2.1, inf)".
std::string interval_text(const MedianInterval& value);

}  // namespace symport::lab::compare
