// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/training/train.hpp"

namespace symport {

/// Learning rates spaced geometrically, both ends included.
struct RateGrid {
  double lowest = 1e-5;
  double highest = 10.0;
  Index per_decade = 20;
};

/// The rates of a grid, ascending. Throws InvalidArgument unless 0 < lowest <= highest < infinity
/// and per_decade >= 1.
std::vector<double> rates_of(const RateGrid& grid);

/// A run at the rate of the grid that gives the smallest final loss.
template <Real Scalar>
struct BestLearningRate {
  double learning_rate = 0.0;
  RunSummary run;
  VectorOf<Scalar> w;
};

/// A fair baseline: runs from `start` with every constant rate of the grid and returns the run with
/// the smallest final loss (among equals, the one with the smaller rate). Runs that diverge lose to
/// all others. `options.learning_rate` is ignored. When `options.watcher` interrupts a run, the
/// best so far is returned, with status `interrupted`.
///
/// Throws InvalidArgument as `rates_of` does.
template <Real Scalar>
BestLearningRate<Scalar> best_learning_rate(const BasicObjective<Scalar>& objective,
                                            const BasicOptimizer<Scalar>& optimizer,
                                            In<Scalar> start, const TrainOptions<Scalar>& options,
                                            const RateGrid& grid = {});

}  // namespace symport
