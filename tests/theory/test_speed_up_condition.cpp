// SPDX-License-Identifier: MIT
// Section 5.1 of the paper: which symmetries accelerate.
#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/symmetries.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// J of w -> g.w at w, from difference quotients.
Matrix jacobian(const MatrixSymmetry& symmetry, const Matrix& g, const Vector& w) {
  const Index n = w.size();
  Matrix J(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      J(i, j) = testing::central_difference(
          [&](double e) {
            Vector moved = w + e * Vector::Unit(n, j);
            symmetry.act(g, moved);
            return moved[i];
          },
          1e-3);
    }
  }
  return J;
}

/// -dL/dt of the gradient flow dw/dt = -eta dL/dw, measured along the flow.
double decay(const Objective& objective, const Vector& w, const Matrix& eta) {
  Vector g(w.size());
  objective.gradient(w, g);
  const Vector velocity = eta * g;
  const double e = 1e-3 / (1.0 + velocity.norm());
  return -testing::central_difference([&](double t) { return objective.value(w - t * velocity); },
                                      e);
}

Vector acted(const MatrixSymmetry& symmetry, const Matrix& g, const Vector& w) {
  Vector moved = w;
  symmetry.act(g, moved);
  return moved;
}

// Proposition (speed-up condition): the loss falls faster at g.w exactly when
// |J^-T grad L(w)|_eta > |grad L(w)|_eta. It fails for as many elements as it holds for.
TEST(SpeedUpConditionProposition, SaysWhetherTheLossFallsFasterAtTheTeleportedPoint) {
  Random random(201);
  int holds = 0, fails = 0;
  for (const auto& row : testing::symmetry_table()) {
    const Index n = row.objective->dimension();
    for (const bool euclidean : {true, false}) {
      const Matrix eta =
          euclidean ? Matrix(Matrix::Identity(n, n)) : testing::random_positive_definite(n, random);
      for (int trial = 0; trial < 5; ++trial) {
        SCOPED_TRACE(row.name);
        const Vector w = testing::random_vector(n, random);
        const Matrix g = row.symmetry->random_element(random, 1.0);
        Vector gradient(n);
        row.objective->gradient(w, gradient);
        const Vector moved = inverse(jacobian(*row.symmetry, g, w)).transpose() * gradient;
        const double there = moved.dot(eta * moved), here = gradient.dot(eta * gradient);
        // dL/dt = -|grad L|_eta^2 at both points.
        const double measured_there = decay(*row.objective, acted(*row.symmetry, g, w), eta);
        const double measured_here = decay(*row.objective, w, eta);
        EXPECT_LE(distance(measured_here, here), tolerance::found_place);
        EXPECT_LE(distance(measured_there, there), tolerance::found_place);
        if (distance(here, there) < 1e-4) continue;
        EXPECT_EQ(there > here, measured_there > measured_here);
        ++(there > here ? holds : fails);
      }
    }
  }
  EXPECT_GT(holds, 20);
  EXPECT_GT(fails, 10);
}

/// O_eta acting linearly, g.w = g w, on a loss of w' eta^-1 w.
struct LinearAction {
  Matrix eta;
  std::shared_ptr<const Objective> objective;
};

LinearAction invariant_under_o_eta(const Matrix& eta) {
  const Matrix metric = inverse(eta);
  return {eta, testing::generic(eta.rows(), [metric](const auto& w) {
            const auto q = w.dot(metric.lazyProduct(w));
            return (q - 2.0) * (q - 2.0) + 0.3 * q;
          })};
}

/// g = eta^1/2 Q eta^-1/2 with Q orthogonal: g' eta^-1 g = eta^-1.
Matrix element_of_o_eta(const Matrix& eta, Random& random) {
  const SymmetricEigen eigen = symmetric_eigen(eta);
  const Vector roots = eigen.values.cwiseSqrt();
  const Matrix root = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
  return root * random_orthogonal(eta.rows(), random, false) * inverse(root);
}

// Corollary: a linear action of the orthogonal group changes nothing.
TEST(SpeedUpConditionCorollary, OrthogonalGroupsDoNotChangeTheRateOfDecay) {
  Random random(202);
  const Matrix identity = Matrix::Identity(4, 4);
  const LinearAction round = invariant_under_o_eta(identity);
  for (int trial = 0; trial < 20; ++trial) {
    const Vector w = testing::random_vector(4, random);
    const Matrix Q = element_of_o_eta(identity, random);
    EXPECT_LE(
        distance(decay(*round.objective, Q * w, identity), decay(*round.objective, w, identity)),
        tolerance::difference);
  }
}

// Corollary for a matrix of learning rates: O_eta changes nothing for the rates eta ...
TEST(SpeedUpConditionCorollary, OEtaDoesNotChangeTheRateOfDecayForTheRatesEta) {
  Random random(203);
  const Matrix eta = testing::random_positive_definite(4, random);
  const LinearAction action = invariant_under_o_eta(eta);
  double largest_change_at_constant_rate = 0.0;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector w = testing::random_vector(4, random);
    const Matrix g = element_of_o_eta(eta, random);
    ASSERT_LE(distance(g.transpose() * inverse(eta) * g, inverse(eta)), tolerance::rounding);
    ASSERT_LE(distance(action.objective->value(g * w), action.objective->value(w)),
              tolerance::rounding);
    EXPECT_LE(distance(decay(*action.objective, g * w, eta), decay(*action.objective, w, eta)),
              tolerance::difference);
    const Matrix constant = Matrix::Identity(4, 4);
    largest_change_at_constant_rate = std::max(
        largest_change_at_constant_rate,
        distance(decay(*action.objective, g * w, constant), decay(*action.objective, w, constant)));
  }
  // ... and something for every other.
  EXPECT_GT(largest_change_at_constant_rate, 0.1);
}

// A quadratic form's own symmetry is O_eta for eta = A^-1: Newton's method gains nothing from it,
// and gradient descent does.
TEST(SpeedUpConditionCorollary, TeleportationOfAQuadraticIsInvisibleToNewtonsMethod) {
  Random random(204);
  const auto quadratic = testing::dense_quadratic(5);
  const OrthogonalSymmetry symmetry(quadratic);
  const Matrix newton = inverse(quadratic.A()), constant = Matrix::Identity(5, 5);
  double largest_change = 0.0;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector w = testing::random_vector(5, random);
    const Vector moved = acted(symmetry, symmetry.random_element(random, 0.0), w);
    EXPECT_LE(distance(decay(quadratic, moved, newton), decay(quadratic, w, newton)),
              tolerance::difference);
    largest_change = std::max(
        largest_change, distance(decay(quadratic, moved, constant), decay(quadratic, w, constant)));
  }
  EXPECT_GT(largest_change, 0.1);
}

}  // namespace
}  // namespace symport
