// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "support/symmetries.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

const TeleportObjective& smallest = teleport_objective(ObjectiveKind::weight_norm);

// The same law as for all objectives: along the direction that `aim` chooses for its slope, the
// value grows at the rate that it returns.
TEST(WeightNorm, IsTheSquaredNormAndItsSlopeTheDerivativeAlongEveryOrbit) {
  Random random(53);
  for (const auto& row : testing::symmetry_table()) {
    SCOPED_TRACE(row.name);
    const Vector w = testing::random_vector(row.objective->dimension(), random);
    const auto orbit = row.symmetry->orbit(*row.objective, w);
    OrbitMeasures<double> measures(*orbit, 1e-3);
    EXPECT_NEAR(smallest.value(measures), -w.squaredNorm(), tolerance::rounding * w.squaredNorm());
    const double norm = orbit->aim(smallest.slope(measures));
    Vector there(w.size());
    const double slope = testing::central_difference(
        [&](double length) {
          EXPECT_TRUE(orbit->move(length));
          orbit->commit(there);
          return -there.squaredNorm();
        },
        1e-4);
    EXPECT_NEAR(slope, norm, 1e-6 * (norm + w.squaredNorm()));
  }
}

TEST(WeightNorm, TeleportsBalanceFactorsAndKeepTheLoss) {
  const auto problem = MatrixFactorization::random(5, 4, 2, 3);
  const FactorPairSymmetry symmetry(problem);
  Vector w = problem.start();
  symmetry.act(Matrix{{5.0, 1.0}, {0.0, 0.3}}, w);
  const double before = problem.value(w);
  const auto imbalance = [&] {
    const Eigen::Map<const Matrix> U(w.data(), 5, 2), V(w.data() + 10, 2, 4);
    return (U.transpose() * U - V * V.transpose()).norm() / w.squaredNorm();
  };
  EXPECT_GT(imbalance(), 0.1);
  const OrbitAscent ascent({.max_steps = 200});
  const Certificate c = teleport<double>(
      problem, w,
      {.symmetry = &symmetry, .search = &ascent, .objective = ObjectiveKind::weight_norm});
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_LT(imbalance(), 0.02);
  EXPECT_NEAR(problem.value(w), before, tolerance::drift * before);
}

TEST(WeightNorm, TeleportsBalanceTheUnitsOfANetwork) {
  Random random(54);
  auto problem =
      testing::random_problem<float>({6, 5, 4, 3}, "leaky_relu", "cross_entropy", false, 8, random);
  const PositiveScalingSymmetry<float> symmetry;
  const Mlp& network = problem.objective.network();
  PositiveScalingSymmetry<float>::act(network, {Vector::Constant(5, 5.0), Vector::Constant(4, 0.3)},
                                      problem.w);
  const auto imbalance = [&] {
    double largest = 0.0;
    for (Index m = 1; m < network.layers(); ++m) {
      for (Index i = 0; i < network.width(m); ++i) {
        const double in = network.weights(m, problem.w.data()).row(i).norm();
        const double out = network.weights(m + 1, problem.w.data()).col(i).norm();
        largest = std::max(largest, std::abs(std::log(in / out)));
      }
    }
    return largest;
  };
  EXPECT_GT(imbalance(), 2.0);
  const double before = problem.w.squaredNorm();
  const OrbitAscent ascent({.max_steps = 200});
  const Certificate c = teleport<float>(
      problem.objective, problem.w,
      {.symmetry = &symmetry, .search = &ascent, .objective = ObjectiveKind::weight_norm});
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_LT(problem.w.squaredNorm(), 0.5 * before);
  EXPECT_LT(imbalance(), 0.1);
}

}  // namespace
}  // namespace symport
