// SPDX-License-Identifier: MIT
// Section 5.3 and appendix C.3 of the paper: convex quadratic functions w'Aw.
#include <gtest/gtest.h>

#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/teleport.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance, testing::numbers_at;

const CriterionOptions by_gradient_norm{.objective = ObjectiveKind::gradient_norm};

/// w teleported to the greatest gradient of its level set.
Vector teleported(const Quadratic& quadratic, const OrthogonalSymmetry& symmetry, Vector w) {
  Random random(0);
  teleport<double>(quadratic, *symmetry.orbit(quadratic, w), ClosedFormSearch(), by_gradient_norm,
                   random, w);
  return w;
}

std::vector<Quadratic> quadratics() {
  return {Quadratic::diagonal(2, 9.0), Quadratic::diagonal(5, 100.0), testing::dense_quadratic(4)};
}

/// A random point of the level set through w, made without the symmetry: a random ray.
Vector on_the_level_set(const Quadratic& quadratic, const Vector& w, Random& random) {
  const Vector v = testing::random_vector(w.size(), random);
  return std::sqrt(quadratic.value(w) / quadratic.value(v)) * v;
}

// Proposition: S_c contains a single orbit. The element from the proof, by reflections.
TEST(SingleOrbitProposition, OneElementLeadsFromAnyPointOfALevelSetToAnyOther) {
  Random random(221);
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    const Index n = quadratic.dimension();
    for (int trial = 0; trial < 20; ++trial) {
      const Vector from = testing::random_vector(n, random);
      const Vector to = on_the_level_set(quadratic, from, random);
      Vector u(n), v(n);
      symmetry.variables().to(from, u);
      symmetry.variables().to(to, v);
      const Vector normal = (u - v).normalized();
      const Matrix g = Matrix::Identity(n, n) - 2.0 * normal * normal.transpose();
      ASSERT_LE((g.transpose() * g - Matrix::Identity(n, n)).norm(), tolerance::rounding);
      Vector moved = from;
      symmetry.act(g, moved);
      EXPECT_LE(distance(moved, to), tolerance::rounding);
    }
  }
}

// The premise is the same level: an orbit never leaves it.
TEST(SingleOrbitProposition, NoElementLeadsToAnotherLevelSet) {
  Random random(222);
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    const Vector from = testing::random_vector(quadratic.dimension(), random);
    for (int trial = 0; trial < 100; ++trial) {
      Vector moved = from;
      symmetry.act(symmetry.random_element(random, 0.0), moved);
      EXPECT_LE(distance(quadratic.value(moved), quadratic.value(from)), tolerance::rounding);
    }
  }
}

// Proposition: the solution is an eigenvector of A for its largest eigenvalue.
TEST(EigenvectorProposition, TheGreatestGradientOfALevelSetIsAtATopEigenvector) {
  Random random(223);
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    const double largest = symmetry.eigenvalues().maxCoeff();
    const Vector w = testing::random_vector(quadratic.dimension(), random);
    const Vector best = teleported(quadratic, symmetry, w);
    EXPECT_LE(distance(quadratic.A() * best, largest * best), tolerance::rounding);
    EXPECT_LE(distance(quadratic.value(best), quadratic.value(w)), tolerance::rounding);
    const double found = numbers_at(quadratic, best).grad_sq;
    EXPECT_LE(distance(found, 4.0 * largest * quadratic.value(w)), tolerance::rounding);
    for (int trial = 0; trial < 2000; ++trial) {
      const Vector other = on_the_level_set(quadratic, w, random);
      ASSERT_LE(numbers_at(quadratic, other).grad_sq, found * (1.0 + tolerance::rounding));
    }
  }
}

/// How much of the greatest squared gradient on its level set a point has.
double optimality(const Quadratic& quadratic, const OrthogonalSymmetry& symmetry, const Vector& w) {
  const auto at = numbers_at(quadratic, w);
  return at.grad_sq / (4.0 * symmetry.eigenvalues().maxCoeff() * at.loss);
}

// Proposition: after one teleport every point of the trajectory is optimal in its own level set.
TEST(OptimalTrajectoryProposition, OneTeleportMakesTheWholeTrajectoryOptimal) {
  Random random(224);
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    const double eta = 0.1 / symmetry.eigenvalues().maxCoeff();
    const Vector start = testing::random_vector(quadratic.dimension(), random);
    Vector w = teleported(quadratic, symmetry, start), plain = start, g(w.size());
    double worst = 1.0, worst_plain = 1.0;
    for (int step = 0; step < 30; ++step) {
      worst = std::min(worst, optimality(quadratic, symmetry, w));
      worst_plain = std::min(worst_plain, optimality(quadratic, symmetry, plain));
      quadratic.gradient(w, g);
      w -= eta * g;
      quadratic.gradient(plain, g);
      plain -= eta * g;
    }
    EXPECT_GE(worst, 1.0 - tolerance::accumulated);
    // Without the premise, a maximum at the start, it is not so.
    EXPECT_LT(worst_plain, 0.9);
  }
}

// The premise is a quadratic: on Rosenbrock's function one teleport does not suffice.
TEST(OptimalTrajectoryProposition, DoesNotHoldForRosenbrock) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  Random random(225);
  const auto greatest = [&](Vector w) {
    teleport<double>(objective, *symmetry.orbit(objective, w), AngleScan(), by_gradient_norm,
                     random, w);
    return w;
  };
  Vector w = greatest(Vector{{0.5, 0.5}}), g(2);
  const double at_first =
      numbers_at(objective, w).grad_sq / numbers_at(objective, greatest(w)).grad_sq;
  EXPECT_GE(at_first, 1.0 - tolerance::found_value);
  for (int step = 0; step < 300; ++step) {
    objective.gradient(w, g);
    w -= 1e-5 * g;
  }
  EXPECT_LT(numbers_at(objective, w).grad_sq, 0.9 * numbers_at(objective, greatest(w)).grad_sq);
}

// Proposition: the greatest gradient of a level set is at its point nearest to the minimum.
TEST(NearestPointProposition, TeleportationGoesToTheNearestPointOfTheLevelSet) {
  Random random(226);
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    const Vector w = testing::random_vector(quadratic.dimension(), random);
    const Vector best = teleported(quadratic, symmetry, w);
    double nearest = w.norm();
    for (int trial = 0; trial < 10000; ++trial) {
      nearest = std::min(nearest, on_the_level_set(quadratic, w, random).norm());
    }
    EXPECT_LE(best.norm(), nearest * (1.0 + tolerance::rounding));
  }
}

TEST(NearestPointProposition, DoesNotHoldForRosenbrock) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  Random random(227);
  Vector best = objective.start();
  teleport<double>(objective, *symmetry.orbit(objective, best), AngleScan(), by_gradient_norm,
                   random, best);
  const auto distance_to_minimum = [&](const Vector& w) {
    return (w - objective.minimizer()).norm();
  };
  EXPECT_GT(distance_to_minimum(best), distance_to_minimum(objective.start()));
}

// The decrement J^2 / (2 Phi), the decrease of the best step along the gradient, is at most
// L - L_min ...
TEST(Decrement, OfAQuadraticIsAtMostTheLoss) {
  Random random(228);
  for (const Quadratic& quadratic : quadratics()) {
    for (int trial = 0; trial < 1000; ++trial) {
      const auto at = numbers_at(quadratic, testing::random_vector(quadratic.dimension(), random));
      EXPECT_LE(testing::worth(ObjectiveKind::decrement, 0.0, at),
                at.loss * (1.0 + tolerance::rounding));
    }
  }
}

// ... with equality at the eigenvectors ...
TEST(Decrement, OfAQuadraticIsTheLossAtEigenvectors) {
  for (const Quadratic& quadratic : quadratics()) {
    const OrthogonalSymmetry symmetry(quadratic);
    for (Index i = 0; i < quadratic.dimension(); ++i) {
      const Vector w = 1.7 * symmetry.eigenvectors().col(i);
      const auto at = numbers_at(quadratic, w);
      EXPECT_LE(distance(testing::worth(ObjectiveKind::decrement, 0.0, at), at.loss),
                tolerance::rounding);
      // The step of length J / Phi is Newton's: it ends at the minimum.
      Vector g(w.size());
      quadratic.gradient(w, g);
      EXPECT_LE((w - at.grad_sq / at.curvature * g).norm(), tolerance::rounding);
    }
  }
}

// ... and only there: the loss that is left grows with the distance from an eigenvector.
TEST(Decrement, OfAQuadraticIsLessThanTheLossElsewhere) {
  const auto quadratic = Quadratic::diagonal(3, 25.0);
  for (const double tilt : {1e-3, 0.1, 0.5}) {
    const Vector w{{std::sin(tilt), 0.0, std::cos(tilt)}};
    const auto at = numbers_at(quadratic, w);
    EXPECT_LT(testing::worth(ObjectiveKind::decrement, 0.0, at),
              at.loss * (1.0 - 0.03 * tilt * tilt));
  }
}

// The premise is a quadratic: elsewhere the curvature along the gradient may be far too small.
TEST(Decrement, OfRosenbrockMayExceedTheLoss) {
  Random random(229);
  const Rosenbrock objective;
  bool exceeds = false;
  for (int trial = 0; trial < 1000; ++trial) {
    const auto at = numbers_at(objective, testing::random_vector(2, random));
    exceeds |= at.curvature > 0.0 && testing::worth(ObjectiveKind::decrement, 0.0, at) > at.loss;
  }
  EXPECT_TRUE(exceeds);
}

}  // namespace
}  // namespace symport
