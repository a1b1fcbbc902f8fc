// SPDX-License-Identifier: MIT
// Section 5.2 of the paper: improvement of subsequent steps.
#include <gtest/gtest.h>

#include "support/symmetries.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

double gradient_norm(const Objective& objective, const Vector& w) {
  Vector g(w.size());
  objective.gradient(w, g);
  return g.norm();
}

Vector descended(const Objective& objective, Vector w, double eta, int steps) {
  Vector g(w.size());
  for (int t = 0; t < steps; ++t) {
    objective.gradient(w, g);
    w -= eta * g;
  }
  return w;
}

struct Trial {
  bool premise, conclusion;
};

/// A quadratic w'Aw has the Lipschitz constant 2 lambda_max(A).
Trial trial(const Quadratic& quadratic, const OrthogonalSymmetry& symmetry, const Vector& w,
            const Vector& teleported, double eta, int T) {
  const double L = 2.0 * symmetry.eigenvalues().maxCoeff();
  EXPECT_LT(eta * L, 1.0);
  const double ratio = gradient_norm(quadratic, teleported) / gradient_norm(quadratic, w);
  const bool premise = ratio >= std::pow((1.0 + eta * L) / (1.0 - eta * L), T);
  const bool conclusion =
      gradient_norm(quadratic, descended(quadratic, teleported, eta, T)) >=
      gradient_norm(quadratic, descended(quadratic, w, eta, T)) * (1.0 - tolerance::rounding);
  return {premise, conclusion};
}

// Proposition: a teleport that multiplies |grad L| by ((1 + eta L) / (1 - eta L))^T still has the
// larger gradient T steps later.
TEST(LipschitzProposition, AGreaterGradientStaysGreaterForTSteps) {
  Random random(211);
  const auto quadratic = Quadratic::diagonal(4, 100.0);
  const OrthogonalSymmetry symmetry(quadratic);
  int premises = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vector w = testing::random_vector(4, random);
    Vector teleported = w;
    symmetry.act(symmetry.random_element(random, 0.0), teleported);
    const double eta = 0.005 * std::pow(10.0, random.uniform(-2.0, 0.0)) * 0.9;
    const int T = static_cast<int>(1 + random.below(8));
    const Trial result = trial(quadratic, symmetry, w, teleported, eta, T);
    premises += result.premise;
    if (result.premise) EXPECT_TRUE(result.conclusion) << "eta " << eta << " T " << T;
  }
  EXPECT_GT(premises, 200);
}

// Its premise is needed: the best point of the level set has the greatest gradient now, and, where
// that premise fails, the smaller one later.
TEST(LipschitzProposition, WithoutItsPremiseAGreaterGradientMayBecomeTheSmaller) {
  const auto quadratic = Quadratic::diagonal(2, 100.0);
  const OrthogonalSymmetry symmetry(quadratic);
  const Vector w{{1.0, 0.0}}, teleported{{0.0, 0.1}};
  ASSERT_LE(testing::distance(quadratic.value(w), quadratic.value(teleported)), tolerance::rounding);
  ASSERT_GT(gradient_norm(quadratic, teleported), gradient_norm(quadratic, w));
  const Trial soon = trial(quadratic, symmetry, w, teleported, 0.001, 1);
  EXPECT_TRUE(soon.premise);
  EXPECT_TRUE(soon.conclusion);
  const Trial late = trial(quadratic, symmetry, w, teleported, 0.001, 40);
  EXPECT_FALSE(late.premise);
  EXPECT_FALSE(late.conclusion);
}

}  // namespace
}  // namespace symport
