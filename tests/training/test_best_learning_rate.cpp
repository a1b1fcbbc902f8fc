// SPDX-License-Identifier: MIT
#include "symport/training/best_learning_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/quadratic.hpp"
#include "symport/optimizers/gradient_descent.hpp"

namespace symport {
namespace {

/// One step on w'Aw: w <- (1 - 2 eta) w for A = I, so that eta = 1/2 is exact.
TEST(BestLearningRate, FindsTheNewtonStepOfTheUnitQuadratic) {
  const Quadratic quadratic = Quadratic::diagonal(2, 1.0);
  const auto best = best_learning_rate<double>(quadratic, GradientDescent<>{}, Vector::Ones(2),
                                               {.max_steps = 1}, {0.05, 5.0, 20});
  EXPECT_NEAR(best.learning_rate, 0.5, 1e-12);
  EXPECT_LT(best.run.final_loss, 1e-20);
  EXPECT_LT(best.w.norm(), 1e-10);
}

TEST(BestLearningRate, DivergentRatesLose) {
  const Quadratic quadratic = Quadratic::diagonal(3, 100.0);
  const auto best = best_learning_rate<double>(quadratic, GradientDescent<>{}, Vector::Ones(3),
                                               {.max_steps = 5000}, {1e-3, 10.0, 5});
  EXPECT_EQ(best.run.status, RunStatus::step_limit);
  EXPECT_LT(best.learning_rate, 0.01);  // 2 / lambda_max(H)
  const auto hopeless = best_learning_rate<double>(quadratic, GradientDescent<>{}, Vector::Ones(3),
                                                   {.max_steps = 5000}, {1, 10, 5});
  EXPECT_EQ(hopeless.run.status, RunStatus::diverged);
}

TEST(BestLearningRate, AWatcherMayStopIt) {
  const Quadratic quadratic = Quadratic::diagonal(2, 1.0);
  int calls = 0;
  TrainOptions<double> options{.max_steps = 10};
  options.watcher = [&](const TraceRow&) { return ++calls < 25; };
  const auto best =
      best_learning_rate<double>(quadratic, GradientDescent<>{}, Vector::Ones(2), options);
  EXPECT_EQ(best.run.status, RunStatus::interrupted);
  EXPECT_EQ(calls, 25);
}

TEST(RateGrid, IsGeometricWithBothEnds) {
  const std::vector<double> rates = rates_of({0.01, 10.0, 2});
  ASSERT_EQ(rates.size(), 7u);
  EXPECT_EQ(rates.front(), 0.01);
  EXPECT_DOUBLE_EQ(rates.back(), 10.0);
  for (std::size_t i = 1; i < rates.size(); ++i) {
    EXPECT_NEAR(rates[i] / rates[i - 1], std::sqrt(10.0), 1e-12);
  }
  EXPECT_EQ(rates_of({0.5, 0.5, 3}), std::vector<double>{0.5});
}

TEST(BestLearningRate, RejectsImpossibleGrids) {
  const Quadratic quadratic = Quadratic::diagonal(2, 1.0);
  for (const RateGrid& grid :
       {RateGrid{0.0, 1.0, 5}, RateGrid{1.0, 0.5, 5}, RateGrid{-1.0, 1.0, 5},
        RateGrid{1.0, HUGE_VAL, 5}, RateGrid{1e-300, 1e300, 1}, RateGrid{0.1, 1.0, 0}}) {
    EXPECT_THROW(
        best_learning_rate<double>(quadratic, GradientDescent<>{}, Vector::Ones(2), {}, grid),
        InvalidArgument);
  }
}

}  // namespace
}  // namespace symport
