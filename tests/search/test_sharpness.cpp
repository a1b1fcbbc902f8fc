// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/symmetries.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

const TeleportObjective& sharp = teleport_objective(ObjectiveKind::sharpness);

/// lambda_max of the dense Hessian at w.
double sharpness_at(const Objective& objective, const Vector& w) {
  return symmetric_eigen(hessian(objective, w)).values[w.size() - 1];
}

struct Row {
  std::string name;
  std::shared_ptr<const void> owner;
  const Objective* objective;
  std::shared_ptr<const Symmetry> symmetry;
  Vector w;
};

/// Problems of at most twelve variables, on which Lanczos' method is exact.
std::vector<Row> small_problems() {
  std::vector<Row> rows;
  Random random(51);
  for (const auto& row : testing::symmetry_table()) {
    const Index n = row.objective->dimension();
    if (n > 12) continue;
    rows.push_back({row.name, row.objective, row.objective.get(), row.symmetry,
                    testing::random_vector(n, random)});
  }
  const auto network = [&](std::shared_ptr<const Symmetry> symmetry, const char* activation) {
    const auto problem = std::make_shared<testing::Problem<double>>(testing::random_problem<double>(
        {3, 2, 2}, activation, "half_sum_squares", true, 3, random));
    rows.push_back(
        {symmetry->name() + " " + activation, problem, &problem->objective, symmetry, problem->w});
  };
  network(std::make_shared<PositiveScalingSymmetry<double>>(), "leaky_relu");
  network(std::make_shared<LinearNetworkSymmetry<double>>(), "linear");
  const auto gl = std::make_shared<GeneralLinear<double>>(GeneralLinearOptions{.max_rank = 0});
  network(gl, "asinh");
  network(gl, "leaky_relu");
  return rows;
}

TEST(Sharpness, IsTheLargestEigenvalueOfTheHessianWithItsSign) {
  for (const Row& row : small_problems()) {
    const auto orbit = row.symmetry->orbit(*row.objective, row.w);
    OrbitMeasures<double> measures(*orbit, 1e-3);
    const double expected = sharpness_at(*row.objective, row.w);
    EXPECT_NEAR(sharp.value(measures), -expected, tolerance::difference * std::abs(expected))
        << row.name;
  }
}

// The same law as for J and Phi: along the direction that `aim` chooses for its slope, the value
// grows at the rate that it returns.
TEST(Sharpness, SlopeIsTheDerivativeAlongEveryOrbit) {
  for (const Row& row : small_problems()) {
    SCOPED_TRACE(row.name);
    const auto orbit = row.symmetry->orbit(*row.objective, row.w);
    OrbitMeasures<double> measures(*orbit, 1e-3);
    const double norm = orbit->aim(sharp.slope(measures));
    Vector w(row.w.size());
    const double slope = testing::central_difference(
        [&](double length) {
          EXPECT_TRUE(orbit->move(length));
          orbit->commit(w);
          return -sharpness_at(*row.objective, w);
        },
        1e-4);
    const double scale = norm + std::abs(sharpness_at(*row.objective, row.w));
    EXPECT_NEAR(slope, norm, 1e-5 * scale);
  }
}

TEST(Sharpness, ATeleportMakesItSmallerAndKeepsTheLoss) {
  const OrbitAscent ascent;
  std::vector<std::string> flatter;
  for (const Row& row : small_problems()) {
    SCOPED_TRACE(row.name);
    Vector w = row.w;
    const Certificate c = teleport<double>(
        *row.objective, w,
        {.symmetry = row.symmetry.get(), .search = &ascent, .objective = ObjectiveKind::sharpness});
    EXPECT_LE(c.drift, tolerance::drift);
    EXPECT_EQ(c.accepted, !testing::identical(w, row.w));
    const double before = sharpness_at(*row.objective, row.w);
    const double after = sharpness_at(*row.objective, w);
    // Quadratic forms have the same Hessian everywhere; rounding may prefer another point.
    EXPECT_LE(after, before + tolerance::rounding * std::abs(before)) << c.reason;
    if (after < 0.99 * before) flatter.push_back(row.name);
  }
  EXPECT_GE(flatter.size(), 8u) << ::testing::PrintToString(flatter);
}

// Rescaling unbalances what gradient descent likes and balances what is flat.
TEST(Sharpness, AscentFlattensAnUnbalancedNetwork) {
  Random random(52);
  auto problem = testing::random_problem<float>({20, 16, 16, 4}, "leaky_relu", "cross_entropy",
                                                true, 6, random);
  const PositiveScalingSymmetry<float> symmetry;
  std::vector<Vector> scales{Vector::Constant(16, 6.0), Vector::Constant(16, 0.2)};
  PositiveScalingSymmetry<float>::act(problem.objective.network(), scales, problem.w);
  const auto sharpness = [&](const VectorOf<float>& w) {
    return largest_curvature<float>(problem.objective, w, VectorOf<float>::Ones(w.size()), 40);
  };
  const double before = sharpness(problem.w);
  const OrbitAscent ascent({.max_steps = 40});
  const Certificate c = teleport<float>(
      problem.objective, problem.w,
      {.symmetry = &symmetry, .search = &ascent, .objective = ObjectiveKind::sharpness});
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_LT(sharpness(problem.w), 0.3 * before);
}

}  // namespace
}  // namespace symport
