// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/benchmark/benchmark.hpp"
#include "symport/statistics/median_interval.hpp"
#include "symport/statistics/performance_profile.hpp"

namespace symport::lab::benchmark {

using Unit = compare::Budget::Unit;

/// A method is among the best on a problem when its median cost is at most so many times the least.
inline constexpr double near_the_best = 1.5;

/// What every run needed to solve its problem, all problems with all seeds one after the other;
/// infinity where it did not, or where the method does not fit.
struct Costs {
  Matrix evaluations, seconds;  ///< problems and seeds x methods

  const Matrix& in(Unit unit) const { return unit == Unit::seconds ? seconds : evaluations; }
};
Costs costs_of(const Benchmark& benchmark, double tolerance);

/// The median over the seeds of one problem with its interval.
MedianInterval median_cost(const Benchmark& benchmark, const Costs& costs, std::size_t problem,
                           std::size_t method, Unit unit);

/// How a method does in one unit of cost, over all problems.
struct Score {
  /// The mean over problems and seeds of (least cost of any method) / (its cost), 0 where it does
  /// not solve the problem: 1 is a method that nobody beats anywhere.
  double efficiency = 0.0;
  std::size_t rank = 0;  ///< by efficiency, from 1; methods with the same share it
  std::size_t best = 0;  ///< problems on which its median is the least
  std::size_t near = 0;  ///< problems on which it is within `near_the_best`
};

/// Runs with teleports against the plain form of the same optimizer on the same problem with the
/// same seed, both at their own best rates. Only pairs count in which the plain run ended below its
/// start, and in which a teleport was made (round trips always count).
struct Harm {
  std::size_t pairs = 0;
  std::size_t harmed = 0;  ///< ended at least twice as high, diverged, or above the start
  std::size_t serious =
      0;                   ///< diverged, above the start, or ten times as high and not near the end
  std::size_t helped = 0;  ///< ended at most half as high
};

struct Standing {
  std::string method;
  bool teleports = false;
  std::size_t fits = 0;    ///< problems
  std::size_t solved = 0;  ///< problems with at least half of the seeds
  std::size_t runs = 0, solved_runs = 0, diverged = 0;
  Score evaluations{}, seconds{};
  Harm harm{};
  Index accepted = 0, refused = 0;  ///< teleports
  double drift = 0.0;
  bool loss_invariant = true;
  /// How wide the range of good rates is: the median over problems of the decades of the grid at
  /// which the method needs at most twice what it needs at its best rate. NaN: it is not tuned.
  double good_decades = 0.0;

  const Score& in(Unit unit) const { return unit == Unit::seconds ? seconds : evaluations; }
};
/// In the order of the methods.
std::vector<Standing> standings_of(const Benchmark& benchmark, const Costs& costs);
/// Positions of the methods, the best first.
std::vector<std::size_t> ranking(const std::vector<Standing>& standings, Unit unit);

/// How much a method suffers from a rate other than its best one.
struct Sensitivity {
  std::vector<double> factor{};      ///< rate / best rate, ascending
  std::vector<double> efficiency{};  ///< cost at the best rate / cost there, mean over problems
};
/// Of the seeds that choose rates. Empty where the method is not tuned.
Sensitivity sensitivity_of(const Benchmark& benchmark, std::size_t method);

/// The median costs of two methods on every problem that one of them fits.
struct CostPairs {
  std::vector<Bounds> method{}, other{};
};
CostPairs cost_pairs(const Benchmark& benchmark, const Costs& costs, std::size_t method,
                     std::size_t other, Unit unit);

/// Cost of `other` / cost of `method`, the median over problems with its interval; each problem
/// enters with the medians of both, which are known only to exceed what was spent where they did
/// not solve it, or do not fit. Problems that fit neither are left out.
MedianInterval speed_up(const Benchmark& benchmark, const Costs& costs, std::size_t method,
                        std::size_t other, Unit unit);

}  // namespace symport::lab::benchmark
