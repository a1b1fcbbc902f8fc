// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/training/train_with_data.hpp"

#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/objectives.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// A regression with a known answer and badly scaled inputs.
struct Regression {
  Matrix truth;
  LinearModel model;
};

Regression regression() {
  Random random(161);
  const Matrix truth = random.normal_matrix(2, 4);
  const Vector scales{{3.0, 1.0, 0.5, 0.2}};
  const Matrix X = scales.asDiagonal() * random.normal_matrix(4, 20);
  return {truth, LinearModel(X, truth * X)};
}

constexpr double rate = 2e-3;
const GradientDescent<double> data_descent;
const LinearDataSymmetry symmetry;

TEST(TrainWithData, PredictsUnseenInputsThroughTheTransformation) {
  Regression problem = regression();
  Vector w = Vector::Zero(8);
  const auto result = train_with_data(problem.model, data_descent, w,
                                      {.max_steps = 3000,
                                       .learning_rate = rate,
                                       .symmetry = &symmetry,
                                       .schedule = at({5, 50, 200})});
  EXPECT_GE(result.run.accepted_teleports(), 1);
  Random random(162);
  const Matrix unseen = random.normal_matrix(4, 30);
  const Matrix predicted = problem.model.predict(w, result.transform(unseen));
  EXPECT_LE(distance(predicted, problem.truth * unseen), 1e-3);
  // Without f the moved weights are wrong.
  EXPECT_GT(distance(problem.model.predict(w, unseen), problem.truth * unseen), 0.1);
}

TEST(TrainWithData, MovesTheDataByTheSameTransformation) {
  Regression problem = regression();
  const Matrix before = problem.model.X();
  Vector w = Vector::Zero(8);
  const auto result = train_with_data(problem.model, data_descent, w,
                                      {.max_steps = 300,
                                       .learning_rate = rate,
                                       .symmetry = &symmetry,
                                       .schedule = at({5, 50, 200})});
  EXPECT_LE(distance(problem.model.X(), result.transform(before)), tolerance::rounding);
  EXPECT_LT(condition_number(result.transform.matrix), 1e6);
}

// Algorithm 3 of the paper, written out, with the elements composed by hand.
TEST(TrainWithData, IsAlgorithmThree) {
  Regression problem = regression(), copy = regression();
  const OrbitAscent ascent;
  Vector expected = Vector::Zero(8), gradient(8);
  Matrix f = Matrix::Identity(4, 4);
  Random random(0);
  for (Index t = 0; t < 300; ++t) {
    if (t == 5 || t == 50 || t == 200) {
      const auto orbit = symmetry.orbit(copy.model, expected);
      const Certificate c =
          teleport<double>(copy.model, *orbit, ascent, {.learning_rate = rate}, random, expected);
      if (c.accepted) {
        const Matrix g = orbit->data_element();
        copy.model.set_data(g * copy.model.X());
        f = g * f;
      }
    }
    copy.model.gradient(expected, gradient);
    expected -= rate * gradient;
  }
  Vector w = Vector::Zero(8);
  const auto result = train_with_data(problem.model, data_descent, w,
                                      {.max_steps = 300,
                                       .learning_rate = rate,
                                       .symmetry = &symmetry,
                                       .schedule = at({5, 50, 200})});
  EXPECT_TRUE(testing::identical(w, expected));
  EXPECT_EQ(result.transform.matrix, f);
  EXPECT_GT((f - Matrix::Identity(4, 4)).norm(), 0.1);
}

TEST(TrainWithData, KeepsTheLossAtTeleports) {
  Regression problem = regression();
  Vector w = Vector::Zero(8);
  const auto result = train_with_data(
      problem.model, data_descent, w,
      {.max_steps = 100, .learning_rate = rate, .symmetry = &symmetry, .schedule = every(20, 5)});
  ASSERT_GE(result.run.accepted_teleports(), 1);
  for (const Certificate& c : result.run.teleports) {
    if (!c.accepted) continue;
    EXPECT_LE(c.drift, tolerance::drift);
    // The trace shows the point after the teleport: its loss is the one before it.
    const TraceRow& row = result.run.trace.rows.at(static_cast<std::size_t>(c.step));
    EXPECT_TRUE(row.teleported);
    EXPECT_NEAR(row.loss, c.loss_before, tolerance::drift * c.loss_before + 1e-24);
    EXPECT_GT(row.grad_sq, c.grad_sq_before);
  }
}

TEST(TrainWithData, IsFasterWithTeleportsThanWithout) {
  Regression with = regression(), without = regression();
  Vector a = Vector::Zero(8), b = Vector::Zero(8);
  const auto teleported = train_with_data(
      with.model, data_descent, a,
      {.max_steps = 300, .learning_rate = rate, .symmetry = &symmetry, .schedule = every(20, 5)});
  const auto plain =
      train_with_data(without.model, data_descent, b, {.max_steps = 300, .learning_rate = rate});
  EXPECT_LT(teleported.run.final_loss, 0.1 * plain.run.final_loss);
  EXPECT_TRUE(plain.run.teleports.empty());
  EXPECT_EQ(plain.transform.matrix, Matrix(Matrix::Identity(4, 4)));
}

TEST(TrainWithData, ReachesTheMinimumQuicklyWithItsOwnRateAndWhitenedData) {
  Regression with = regression(), without = regression();
  Vector a = Vector::Zero(8), b = Vector::Zero(8);
  const CurvatureDescent<double> automatic;
  const OrbitAscent ascent({.max_steps = 50});
  const auto teleported = train_with_data(
      with.model, automatic, a,
      {.max_steps = 20, .symmetry = &symmetry, .search = &ascent, .schedule = every(2)});
  const auto plain = train_with_data(without.model, automatic, b, {.max_steps = 20});
  EXPECT_LT(teleported.run.final_loss, 1e-3 * plain.run.final_loss);
}

TEST(TrainWithData, ResetsTheStateAtATeleport) {
  Regression problem = regression(), copy = regression();
  const Momentum<double> momentum;
  Vector w = Vector::Zero(8), expected = Vector::Zero(8), gradient(8);
  const auto result = train_with_data(
      problem.model, momentum, w,
      {.max_steps = 12, .learning_rate = 2e-4, .symmetry = &symmetry, .schedule = at({10})});
  ASSERT_EQ(result.run.accepted_teleports(), 1);
  // From the teleport on it is a new run on the moved data.
  copy.model.set_data(problem.model.X());
  expected = result.run.trace.points[10];
  auto state = momentum.init(8);
  for (int t = 10; t < 12; ++t) {
    const double loss = copy.model.gradient(expected, gradient);
    testing::one_step(momentum, copy.model, loss, gradient, 2e-4, state, expected);
  }
  EXPECT_LE(distance(w, expected), tolerance::rounding);
}

TEST(TrainWithData, RefusesAScheduleWithoutASymmetry) {
  Regression problem = regression();
  Vector w = Vector::Zero(8);
  try {
    train_with_data(problem.model, data_descent, w, {.schedule = every(3)});
    FAIL() << "trained";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "symmetry");
  }
}

}  // namespace
}  // namespace symport
