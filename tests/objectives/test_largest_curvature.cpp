// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/objectives.hpp"
#include "support/single_precision.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

double dense(const Objective& objective, const Vector& w) {
  return symmetric_eigen(hessian(objective, w)).values.maxCoeff();
}

double spectral_norm(const Objective& objective, const Vector& w) {
  return symmetric_eigen(hessian(objective, w)).values.cwiseAbs().maxCoeff();
}

TEST(LargestCurvature, IsTheLargestEigenvalueWithAsManyStepsAsVariables) {
  Random random(51);
  for (const auto& row : testing::objective_table()) {
    const Index n = row.objective->dimension();
    for (const Vector& w : testing::random_points(n, random)) {
      const Vector start = testing::random_vector(n, random);
      EXPECT_NEAR(largest_curvature<double>(*row.objective, w, start, n), dense(*row.objective, w),
                  tolerance::accumulated * spectral_norm(*row.objective, w))
          << row.name;
    }
  }
}

TEST(LargestCurvature, WithFewerStepsIsAGoodLowerBound) {
  Random random(52);
  const auto objective = Quadratic::diagonal(60, 1000.0);
  const Vector w = Vector::Zero(60);
  for (int i = 0; i < 10; ++i) {
    const double estimate =
        largest_curvature<double>(objective, w, testing::random_vector(60, random), 12);
    EXPECT_LE(estimate, 2000.0 * (1.0 + tolerance::rounding));
    EXPECT_GE(estimate, 0.95 * 2000.0);
  }
}

// From an eigenvector the Krylov space has one dimension; the rest must be found nevertheless.
TEST(LargestCurvature, DoesNotDependOnALuckyStart) {
  const Vector w = Vector::Zero(3);
  const auto diagonal = Quadratic::diagonal(3, 50.0);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_LE(
        testing::distance(largest_curvature<double>(diagonal, w, Vector::Unit(3, i), 3), 100.0),
        tolerance::rounding);
  }
  EXPECT_LE(testing::distance(largest_curvature<double>(diagonal, w, Vector::Zero(3), 3), 100.0),
            tolerance::rounding);
}

// The largest eigenvector here is orthogonal to (1, 1, 1) and to equally spaced numbers.
TEST(LargestCurvature, FindsAnEigenvectorOrthogonalToEverySmoothStart) {
  const Vector zigzag = Vector{{1.0, -2.0, 1.0}}.normalized();
  const Quadratic objective(Matrix(Matrix::Identity(3, 3) + 10.0 * zigzag * zigzag.transpose()));
  EXPECT_LE(testing::distance(
                largest_curvature<double>(objective, Vector::Zero(3), Vector::Ones(3), 3), 22.0),
            tolerance::rounding);
}

TEST(LargestCurvature, MayBeNegative) {
  const GenericObjective dome(
      3, [](const auto& x) { return -1.0 * x[0] * x[0] - 2.0 * x[1] * x[1] - 3.0 * x[2] * x[2]; });
  EXPECT_NEAR(largest_curvature<double>(dome, Vector::Zero(3), Vector::Ones(3), 3), -2.0,
              tolerance::rounding);
}

TEST(LargestCurvature, AgreesInSinglePrecision) {
  Random random(53);
  const Rosenbrock objective(3);
  const testing::SinglePrecision single(objective);
  const Vector w = testing::random_vector(6, random), start = testing::random_vector(6, random);
  EXPECT_LE(
      testing::distance(largest_curvature<float>(single, w.cast<float>(), start.cast<float>(), 6),
                        dense(objective, w)),
      tolerance::single_precision);
}

}  // namespace
}  // namespace symport
