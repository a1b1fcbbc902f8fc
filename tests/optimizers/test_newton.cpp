// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/optimizers/newton.hpp"

#include <gtest/gtest.h>

#include "support/objectives.hpp"
#include "support/single_precision.hpp"
#include "symport/core/invalid_argument.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;
using testing::generic;

/// The step that a Newton method of this precision would take from w.
template <Real Scalar>
VectorOf<Scalar> step_at(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& w,
                         double learning_rate) {
  const Newton<Scalar> newton;
  VectorOf<Scalar> gradient(w.size()), u(w.size());
  objective.gradient(w, gradient);
  newton.preview(objective, w, gradient, learning_rate, newton.init(w.size()), u);
  return u;
}

TEST(Newton, SolvesAQuadraticInOneStep) {
  const auto quadratic = testing::dense_quadratic(6);
  const Newton<double> newton;
  Random random(141);
  Vector w = testing::random_vector(6, random), gradient(6);
  auto state = newton.init(6);
  const double loss = quadratic.gradient(w, gradient);
  testing::one_step(newton, quadratic, loss, gradient, 1.0, state, w);
  EXPECT_LE(w.norm(), tolerance::rounding);
}

TEST(Newton, DescendsWhereTheHessianIsIndefinite) {
  const Rosenbrock rosenbrock;
  const Vector w{{0.0, 1.0}};  // there the Hessian is diag(-398, 200)
  Vector gradient(2);
  rosenbrock.gradient(w, gradient);
  EXPECT_GT(gradient.dot(step_at<double>(rosenbrock, w, 1.0)), 0.0);
}

TEST(Newton, RefusesLargeProblemsAndCountsItsProducts) {
  EXPECT_THROW(Newton<double>({.max_dimension = 3}).init(4), InvalidArgument);
  const auto quadratic = testing::dense_quadratic(4);
  const Newton<double> newton;
  Vector w = Vector::Ones(4), gradient(4);
  auto state = newton.init(4);
  const double loss = quadratic.gradient(w, gradient);
  EXPECT_EQ(testing::one_step(newton, quadratic, loss, gradient, 1.0, state, w).evaluations, 8.0);
}

// |A w - b|^2 with fewer equations than unknowns: a whole plane of minima, of rank 2 in R^5.
TEST(Newton, ReachesAFlatValleyInOneStep) {
  Random random(143);
  const Matrix A = random.normal_matrix(2, 5);
  const Vector b = random.normal_matrix(2, 1);
  const auto valley = generic(5, [=](const auto& x) {
    auto sum = 0.0 * x[0];
    for (Index i = 0; i < 2; ++i) {
      auto residual = -b[i] + 0.0 * x[0];
      for (Index j = 0; j < 5; ++j) residual += A(i, j) * x[j];
      sum += residual * residual;
    }
    return sum;
  });
  for (const Vector& w : testing::random_points(5, random)) {
    const Vector next = w - step_at<double>(*valley, w, 1.0);
    EXPECT_LE((A * next - b).norm(), tolerance::accumulated * (A * w - b).norm());
    const Vector half = w - step_at<double>(*valley, w, 0.5);
    EXPECT_LE(distance(A * half - b, 0.5 * (A * w - b)), tolerance::accumulated);
  }
}

// x^2 + 3 y: along y the least scale, 1e-12 of the largest, stands for the curvature that is not
// there; downhill all the same.
TEST(Newton, DividesByNoScaleBelowItsFloor) {
  const auto slope = generic(2, [](const auto& x) { return x[0] * x[0] + 3.0 * x[1]; });
  const Vector u = step_at<double>(*slope, Vector{{4.0, -1.0}}, 0.25);
  EXPECT_LE(distance(u, Vector{{0.25 * 4.0, 0.25 * 3.0 / (1e-12 * 2.0)}}), tolerance::rounding);
}

TEST(Newton, WithoutAnyCurvatureTakesAGradientStep) {
  const auto plane = generic(3, [](const auto& x) { return 2.0 * x[0] - x[1] + 0.0 * x[2]; });
  const testing::SinglePrecision single(*plane);
  const Vector w{{1.0, 2.0, 3.0}};
  EXPECT_EQ(step_at<double>(*plane, w, 0.5), Vector({{1.0, -0.5, 0.0}}));
  EXPECT_EQ(step_at<float>(single, w.cast<float>(), 0.5), VectorOf<float>({{1.0, -0.5, 0.0}}));
  // So little of it that the floor is no number above zero either.
  const auto nearly = generic(2, [](const auto& x) { return 1e-318 * x[0] * x[0] + 2.0 * x[1]; });
  EXPECT_EQ(step_at<double>(*nearly, Vector{{0.0, 7.0}}, 0.5), Vector({{0.0, 1.0}}));
}

// The run then stops as diverged instead of going on from an invented point.
TEST(Newton, StepsToNoNumberWhereTheHessianIsNone) {
  const auto cusp = generic(2, [](const auto& x) { return pow(x[0], 1.5) + x[1] * x[1]; });
  EXPECT_TRUE(step_at<double>(*cusp, Vector{{0.0, 1.0}}, 1.0).array().isNaN().all());
  EXPECT_TRUE(step_at<double>(*cusp, Vector{{1.0, 1.0}}, 1.0).allFinite());
}

}  // namespace
}  // namespace symport
