// SPDX-License-Identifier: MIT
// Teleports where they pay for themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/networks.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/objectives/quadratic.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/training/train.hpp"

namespace symport {
namespace {

TEST(AutomaticSchedule, HasATextForm) {
  const Schedule schedule = Schedule::parse("auto");
  EXPECT_TRUE(schedule.automatic());
  EXPECT_FALSE(schedule.empty());
  EXPECT_FALSE(schedule.contains(0));
  EXPECT_EQ(schedule.to_string(), "auto");
  EXPECT_THROW(Schedule::parse("auto,5"), InvalidArgument);
}

struct Regression {
  Mlp network{{5, 6, 7, 8}, Activation::parse("leaky_relu:0.1")};
  MlpObjective<double> objective;
  Vector start;

  explicit Regression(std::uint64_t seed)
      : objective(network, Loss(Loss::Kind::half_sum_squares), regression_data({.seed = seed}).X,
                  Targets<double>(regression_data({.seed = seed}).Y)) {
    Random random(seed, 1);
    start = initialize<double>(network, Initialization::unit, random);
  }
};

template <class Symmetry>
RunSummary run(const BasicObjective<double>& objective, const Optimizer& optimizer,
               const Vector& start, const Symmetry& symmetry, double rate, Index steps,
               const Schedule& schedule) {
  Vector w = start;
  return train<double>(objective, optimizer, w,
                       {.max_steps = steps,
                        .learning_rate = rate,
                        .teleport = {.symmetry = &symmetry, .schedule = schedule}});
}

/// What refused teleports cost, in gradients.
double refused(const RunSummary& run) {
  double sum = 0.0;
  for (const Certificate& c : run.teleports) sum += c.accepted ? 0.0 : c.evaluations;
  return sum;
}

bool accepted(const RunSummary& run) {
  return std::any_of(run.teleports.begin(), run.teleports.end(),
                     [](const Certificate& c) { return c.accepted; });
}

// Networks at small and large rates, where it may help or not.
TEST(AutomaticSchedule, RefusedTeleportsCostATwentiethAtMost) {
  const PositiveScalingSymmetry<double> rescale;
  const GeneralLinear<double> gl;
  const LinearNetworkSymmetry<double> linear;
  Random random(5);
  const GradientDescent<double> gd;
  for (int trial = 0; trial < 4; ++trial) {
    const bool biases = trial % 2 == 0;
    for (const double rate : {0.01, 0.3}) {
      for (const Index steps : {100, 2500}) {
        SCOPED_TRACE(::testing::Message() << trial << " rate " << rate << " steps " << steps);
        const auto check = [&](const char* activation, const auto& symmetry) {
          const auto problem = testing::random_problem<double>(
              {14, 16, 15, 3}, activation, "half_sum_squares:mean", biases, 12, random);
          const RunSummary plain =
              run(problem.objective, gd, problem.w, symmetry, rate, steps, never());
          const RunSummary probed =
              run(problem.objective, gd, problem.w, symmetry, rate, steps, when_it_pays());
          if (plain.status == RunStatus::diverged) return;
          // Where teleports were made, the run is another one.
          const RunSummary& own = accepted(probed) ? probed : plain;
          EXPECT_LE(refused(probed), 0.05 * own.evaluations) << symmetry.name();
        };
        check("leaky_relu:0.1", rescale);
        check("leaky_relu:0.1", gl);
        check("linear", linear);
      }
    }
  }
}

// A circle, where no rotation changes anything; permutations, which change no gradient norm.
TEST(AutomaticSchedule, CostsATwentiethAtMostWhereNothingHelps) {
  const GradientDescent<double> gd;
  const Regression problem(3);
  for (const Index steps : {20, 200, 750, 2500, 5000}) {
    SCOPED_TRACE(steps);
    const Ellipse circle(1.0);
    const Vector at{{1.0, 2.0}};
    const RunSummary plain = run(circle, gd, at, ellipse_rotation(1.0), 1e-4, steps, never());
    const RunSummary probed =
        run(circle, gd, at, ellipse_rotation(1.0), 1e-4, steps, when_it_pays());
    EXPECT_EQ(probed.final_loss, plain.final_loss);
    EXPECT_LE(probed.evaluations, 1.05 * plain.evaluations);
    const PermutationSymmetry<double> permutation;
    const RunSummary alone =
        run(problem.objective, gd, problem.start, permutation, 1e-4, steps, never());
    const RunSummary searched =
        run(problem.objective, gd, problem.start, permutation, 1e-4, steps, when_it_pays());
    EXPECT_EQ(searched.final_loss, alone.final_loss);
    EXPECT_LE(searched.evaluations, 1.05 * alone.evaluations);
    EXPECT_EQ(searched.teleports.empty(), steps < 2500);
  }
}

TEST(AutomaticSchedule, TeleportsWhereItPays) {
  const GradientDescent<double> gd;
  const CurvatureDescent<double> measured;
  const GeneralLinear<double> symmetry;
  for (std::uint64_t seed = 100; seed < 105; ++seed) {
    SCOPED_TRACE(seed);
    const Regression problem(seed);
    const auto loss = [&](const Optimizer& optimizer, const Schedule& schedule) {
      return run(problem.objective, optimizer, problem.start, symmetry, 1e-4, 800, schedule)
          .final_loss;
    };
    EXPECT_LE(loss(gd, when_it_pays()), 1e-20);
    EXPECT_GE(loss(gd, never()), 1.0);
    EXPECT_LE(loss(measured, when_it_pays()), 1e-20);
    EXPECT_GE(loss(measured, never()), 1e-7);
  }
}

TEST(AutomaticSchedule, GoesOnFromACheckpointAsItWouldHave) {
  const GradientDescent<double> gd;
  const GeneralLinear<double> symmetry;
  const Regression problem(100);
  TrainOptions<double> options{.max_steps = 800,
                               .learning_rate = 1e-4,
                               .teleport = {.symmetry = &symmetry, .schedule = when_it_pays()}};
  Vector w = problem.start;
  const RunSummary whole = train<double>(problem.objective, gd, w, options);
  for (const Index stop : {1, 30, 300}) {
    Checkpoint<double> saved;
    TrainOptions<double> first = options;
    first.watcher = [&](const TraceRow& row) { return row.step < stop; };
    first.checkpoints.save = [&](const Checkpoint<double>& at) { saved = at; };
    Vector half = problem.start;
    train<double>(problem.objective, gd, half, first);
    const Checkpoint<double> read =
        checkpoint_from_arrays<double>(checkpoint_arrays(saved), "c.npz");
    TrainOptions<double> second = options;
    second.checkpoints.resume = &read;
    const RunSummary rest = train<double>(problem.objective, gd, half, second);
    EXPECT_EQ(half, w);
    EXPECT_EQ(rest.teleports.size(), whole.teleports.size());
    EXPECT_EQ(rest.evaluations, whole.evaluations);
  }
}

TEST(AutomaticSchedule, ComparesDecreasesOfTheLossOnly) {
  const GradientDescent<double> gd;
  const GeneralLinear<double> symmetry;
  const Regression problem(1);
  Vector w = problem.start;
  EXPECT_THROW(train<double>(problem.objective, gd, w,
                             {.max_steps = 1000,
                              .learning_rate = 1e-4,
                              .teleport = {.symmetry = &symmetry,
                                           .schedule = when_it_pays(),
                                           .objective = ObjectiveKind::gradient_norm}}),
               InvalidArgument);
}

}  // namespace
}  // namespace symport
