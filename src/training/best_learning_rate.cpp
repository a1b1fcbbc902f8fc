// SPDX-License-Identifier: MIT
#include "symport/training/best_learning_rate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport {

std::vector<double> rates_of(const RateGrid& grid) {
  if (!(grid.lowest > 0 && grid.lowest <= grid.highest &&
        std::isfinite(grid.highest / grid.lowest))) {
    throw InvalidArgument("grid", fmt::format("{} to {}", grid.lowest, grid.highest),
                          "0 < lowest <= highest < infinity, highest / lowest finite");
  }
  if (grid.per_decade < 1) {
    throw InvalidArgument("per_decade", fmt::format("{}", grid.per_decade), "a whole number >= 1");
  }
  const double decades = std::log10(grid.highest / grid.lowest);
  const auto intervals =
      static_cast<Index>(std::ceil(decades * static_cast<double>(grid.per_decade) - 1e-9));
  std::vector<double> rates;
  for (Index i = 0; i <= intervals; ++i) {
    const double part =
        intervals == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(intervals);
    rates.push_back(grid.lowest * std::pow(grid.highest / grid.lowest, part));
  }
  return rates;
}

template <Real Scalar>
BestLearningRate<Scalar> best_learning_rate(const BasicObjective<Scalar>& objective,
                                            const BasicOptimizer<Scalar>& optimizer,
                                            In<Scalar> start, const TrainOptions<Scalar>& options,
                                            const RateGrid& grid) {
  BestLearningRate<Scalar> best;
  for (const double rate : rates_of(grid)) {
    TrainOptions<Scalar> at_rate = options;
    at_rate.learning_rate = rate;
    VectorOf<Scalar> w = start;
    RunSummary run = train<Scalar>(objective, optimizer, w, at_rate);
    const bool interrupted = run.status == RunStatus::interrupted;
    const bool first = best.learning_rate == 0.0;
    const bool better =
        run.status != RunStatus::diverged &&
        (best.run.status == RunStatus::diverged || run.final_loss < best.run.final_loss);
    if (first || (better && !interrupted)) best = {rate, std::move(run), std::move(w)};
    if (interrupted) {
      best.run.status = RunStatus::interrupted;
      break;
    }
  }
  return best;
}

template BestLearningRate<float> best_learning_rate(const BasicObjective<float>&,
                                                    const BasicOptimizer<float>&, In<float>,
                                                    const TrainOptions<float>&, const RateGrid&);
template BestLearningRate<double> best_learning_rate(const BasicObjective<double>&,
                                                     const BasicOptimizer<double>&, In<double>,
                                                     const TrainOptions<double>&, const RateGrid&);

}  // namespace symport
