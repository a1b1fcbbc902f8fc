// SPDX-License-Identifier: MIT
// Section 5.4 and appendix C.4 of the paper: relation to Newton's method.
#include <gtest/gtest.h>

#include <numbers>

#include "core/dense.hpp"
#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/teleport.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::numbers_at;

/// The sine of the angle between two vectors.
double misalignment(const Vector& a, const Vector& b) {
  return (a / a.norm() - a.dot(b) / (a.norm() * b.squaredNorm()) * b).norm();
}

struct Directions {
  Vector gradient, hessian_gradient, newton;
};

Directions directions(const Objective& objective, const Vector& w) {
  const Matrix H = hessian(objective, w);
  Vector g(w.size());
  objective.gradient(w, g);
  return {g, H * g, solve(H, g)};
}

struct LevelSet {
  std::string name;
  std::shared_ptr<const MatrixSymmetry> symmetry;
  std::shared_ptr<const Objective> objective;
};

std::vector<LevelSet> level_sets() {
  std::vector<LevelSet> all;
  for (const auto& row : testing::symmetry_table()) {
    // The level set is one orbit: rotations of two variables, and the quadratics.
    if (!row.symmetry->compact() || row.name.find("pairs") != std::string::npos) continue;
    all.push_back({row.name, row.symmetry, row.objective});
  }
  return all;
}

Vector at_greatest_gradient(const LevelSet& set, Vector w) {
  Random random(0);
  const auto orbit = set.symmetry->orbit(*set.objective, w);
  const AngleScan scan;
  const ClosedFormSearch closed;
  const bool circle = orbit->period() > 0.0;
  teleport<double>(*set.objective, *orbit, circle ? static_cast<const Search&>(scan) : closed,
                   {.objective = ObjectiveKind::gradient_norm}, random, w);
  return w;
}

// Lemma: where the gradient's norm is critical on a level set, the gradient is an eigenvector of H.
TEST(NewtonDirectionLemma, GradientIsAnEigenvectorWhereItsNormIsCriticalOnALevelSet) {
  Random random(231);
  for (const LevelSet& set : level_sets()) {
    for (int trial = 0; trial < 5; ++trial) {
      SCOPED_TRACE(set.name);
      const Vector start = testing::random_vector(set.objective->dimension(), random);
      const auto best = directions(*set.objective, at_greatest_gradient(set, start));
      EXPECT_LE(misalignment(best.hessian_gradient, best.gradient), tolerance::found_place);
    }
  }
}

// A minimum of the norm is as critical as a maximum.
TEST(NewtonDirectionLemma, HoldsAtTheSmallestGradientToo) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const auto point = [&](double angle) {
    Vector w{{0.3, 0.4}};
    symmetry.act(Matrix{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}},
                 w);
    return w;
  };
  const auto grad_sq = [&](double angle) { return numbers_at(objective, point(angle)).grad_sq; };
  constexpr int angles = 1000;
  constexpr double spacing = 2.0 * std::numbers::pi / angles;
  double smallest = 0.0;
  for (int i = 0; i < angles; ++i) {
    if (grad_sq(i * spacing) < grad_sq(smallest)) smallest = i * spacing;
  }
  // The root of the derivative, which is sharper than the minimum itself.
  double low = smallest - spacing, high = smallest + spacing;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    const double slope =
        testing::central_difference([&](double e) { return grad_sq(middle + e); }, 1e-4);
    (slope < 0.0 ? low : high) = middle;
  }
  const auto there = directions(objective, point(low));
  EXPECT_LE(misalignment(there.hessian_gradient, there.gradient), tolerance::found_place);
}

// The premise fails almost everywhere, and so does the conclusion.
TEST(NewtonDirectionLemma, GradientIsNoEigenvectorElsewhere) {
  Random random(232);
  for (const LevelSet& set : level_sets()) {
    double largest = 0.0;
    for (int trial = 0; trial < 5; ++trial) {
      const auto here =
          directions(*set.objective, testing::random_vector(set.objective->dimension(), random));
      largest = std::max(largest, misalignment(here.hessian_gradient, here.gradient));
    }
    EXPECT_GT(largest, 0.05) << set.name;
  }
}

// Proposition: at a maximum on the level set, gradient descent goes in Newton's direction.
TEST(NewtonDirectionProposition, GradientHasNewtonsDirectionAtAMaximumOfTheLevelSet) {
  Random random(233);
  for (const LevelSet& set : level_sets()) {
    for (int trial = 0; trial < 5; ++trial) {
      SCOPED_TRACE(set.name);
      const Vector start = testing::random_vector(set.objective->dimension(), random);
      const auto best = directions(*set.objective, at_greatest_gradient(set, start));
      EXPECT_LE(misalignment(best.newton, best.gradient), 100 * tolerance::found_place);
      EXPECT_GT(best.newton.dot(best.gradient), 0.0);
    }
  }
}

// The statement needs a positive curvature along the gradient: on a concave function Newton's step
// climbs, along the same line.
TEST(NewtonDirectionProposition, TheDirectionIsOppositeWhereTheCurvatureIsNegative) {
  const GenericObjective dome(2,
                              [](const auto& x) { return -1.0 * x[0] * x[0] - 5.0 * x[1] * x[1]; });
  const auto symmetry = ellipse_rotation(5.0);
  Random random(234);
  Vector w{{1.0, 0.5}};
  teleport<double>(dome, *symmetry.orbit(dome, w), AngleScan(),
                   {.objective = ObjectiveKind::gradient_norm}, random, w);
  const auto best = directions(dome, w);
  EXPECT_LE(misalignment(best.newton, best.gradient), tolerance::found_place);
  EXPECT_LT(best.newton.dot(best.gradient), 0.0);
}

}  // namespace
}  // namespace symport
