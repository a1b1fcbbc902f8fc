// SPDX-License-Identifier: MIT
#include "symport/search/fixed_ascent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "core/dense.hpp"
#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/search/teleport.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

const CriterionOptions gradient_norm{.objective = ObjectiveKind::gradient_norm};

/// x(theta) on Booth's orbit and |dL/dx|^2 there, for dual numbers: the paper's formulas.
struct BoothCircle {
  Vector start;
  template <class T>
  VectorOf<T> point(const T& theta) const {
    using std::cos, std::sin;
    const double u0 = start[0] + 2 * start[1] - 7, v0 = 2 * start[0] + start[1] - 5;
    const T u = cos(theta) * u0 - sin(theta) * v0, v = sin(theta) * u0 + cos(theta) * v0;
    VectorOf<T> x(2);
    x << (2.0 * v - u) / 3.0 + 1.0, (2.0 * u - v) / 3.0 + 3.0;
    return x;
  }
  template <class T>
  T grad_sq(const T& theta) const {
    const VectorOf<T> x = point(theta);
    const T a = 10.0 * x[0] + 8.0 * x[1] - 34.0, b = 8.0 * x[0] + 10.0 * x[1] - 38.0;
    return a * a + b * b;
  }
};

TEST(FixedAscent, IsTheLoopOfThePaperOnTheCircle) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    for (const double rate : {1e-3, 1e-5}) {
      const BoothCircle circle{Vector{{5.0, -5.0}}};
      double theta = Random(seed).uniform(0.0, std::numbers::pi);
      for (int step = 0; step < 10; ++step) {
        theta += rate * circle.grad_sq(Dual<double>(theta, 1.0)).derivative;
      }
      Vector w = circle.start;
      Random random(seed);
      const Certificate c =
          teleport<double>(booth, *symmetry.orbit(booth, w),
                           FixedAscent({.steps = 10, .rate = rate}), gradient_norm, random, w);
      ASSERT_TRUE(c.accepted) << c.reason;
      EXPECT_LE(distance(w, circle.point(theta)), tolerance::difference) << seed << " " << rate;
    }
  }
}

TEST(FixedAscent, StartsAtTheIdentityWhenAsked) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  const BoothCircle circle{Vector{{5.0, -5.0}}};
  const double theta = 1e-5 * circle.grad_sq(Dual<double>(0.0, 1.0)).derivative;
  Vector w = circle.start;
  Random random(4);
  teleport<double>(booth, *symmetry.orbit(booth, w),
                   FixedAscent({.steps = 1, .rate = 1e-5, .random_start = false}), gradient_norm,
                   random, w);
  EXPECT_LE(distance(w, circle.point(theta)), tolerance::rounding);
  EXPECT_EQ(random.state().position, 0u);
}

// g <- exp(rate dJ/dT) g with dJ/dT from difference quotients in every entry of T.
TEST(FixedAscent, IsTheSameLoopOnMatrices) {
  const auto problem = testing::full_rank_factorization(3, 4, 2);
  const FactorPairSymmetry symmetry(problem);
  constexpr double rate = 1e-4;
  const Vector start = problem.start();
  Matrix g = Matrix::Identity(2, 2);
  const auto grad_sq = [&](const Matrix& element) {
    Vector w = start;
    symmetry.act(element, w);
    return testing::numbers_at(problem, w).grad_sq;
  };
  for (int step = 0; step < 3; ++step) {
    Matrix slope(2, 2);
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 2; ++j) {
        slope(i, j) = testing::central_difference(
            [&](double e) {
              Matrix T = Matrix::Zero(2, 2);
              T(i, j) = e;
              return grad_sq(matrix_exponential(T) * g);
            },
            1e-3);
      }
    }
    g = matrix_exponential(rate * slope) * g;
  }
  Vector expected = start, w = start;
  symmetry.act(g, expected);
  Random random(5);
  const Certificate c =
      teleport<double>(problem, *symmetry.orbit(problem, w),
                       FixedAscent({.steps = 3, .rate = rate}), gradient_norm, random, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_GT(distance(w, start), 1e-3);
  EXPECT_LE(distance(w, expected), tolerance::difference);
}

TEST(FixedAscent, ReturnsItsLastPointBetterOrNot) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  int worse = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Vector w = booth.start();
    Random random(seed);
    const Certificate c =
        teleport<double>(booth, *symmetry.orbit(booth, w), FixedAscent({.steps = 1, .rate = 1e-9}),
                         gradient_norm, random, w);
    EXPECT_TRUE(c.accepted);
    worse += c.grad_sq_after < c.grad_sq_before;
  }
  EXPECT_GT(worse, 0);
}

// With x = log u, u = r (cos t, sin t), |dL/dx|^2 = 4 r^4 (cos^4 t + sin^4 t) is largest at the
// ends of the quadrant: a loop with too large a rate runs past them, where there is no x.
TEST(FixedAscent, RefusesAStepOutOfTheDomainAndKeepsTheParameters) {
  const auto symmetry = testing::positive_rotation(2);
  const auto objective = testing::positive_objective(2);
  const Vector start{{0.1, 0.0}};
  const double r = std::hypot(std::exp(0.1), 1.0);
  int refused = 0;
  for (const double rate : {1e-3, 0.02, 0.05, 1.0}) {
    std::string expected = "fixed ascent";
    double t = std::atan2(1.0, std::exp(0.1));
    for (int step = 0; step < 5 && expected == "fixed ascent"; ++step) {
      t -= rate * 4.0 * std::pow(r, 4) * std::sin(4.0 * t);
      if (t > 0.0 && t < 0.5 * std::numbers::pi) continue;
      expected = "ascent step " + std::to_string(step) + " left the domain of the action";
      ++refused;
    }
    Vector w = start;
    Random random(6);
    const Certificate c = teleport<double>(
        *objective, *symmetry.orbit(*objective, w),
        FixedAscent({.steps = 5, .rate = rate, .random_start = false}), gradient_norm, random, w);
    EXPECT_EQ(c.reason, expected) << rate;
    EXPECT_EQ(c.accepted, expected == "fixed ascent") << rate;
    if (c.accepted) {
      EXPECT_LE(distance(w, Vector{{std::log(r * std::cos(t)), std::log(r * std::sin(t))}}),
                tolerance::accumulated);
    } else {
      EXPECT_TRUE(testing::identical(w, start)) << rate;
    }
  }
  EXPECT_EQ(refused, 3);
}

}  // namespace
}  // namespace symport
