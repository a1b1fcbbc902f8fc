// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/white_steps.hpp"
#include "symport/core/random.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::step_once;

// ScaledGD in its own words: U - eta G_U (V V')^-1 and V - eta (U'U)^-1 G_V.
TEST(WhiteGauge, OfAFactorPairIsScaledGradientDescent) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  Random random(2);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  Vector expected = w;
  Out<double> out(expected);
  const Matrix U = objective.U(w), V = objective.V(w);
  objective.U(out) -=
      0.25 * solve(V * V.transpose(), objective.U(In<double>(gradient)).transpose()).transpose();
  objective.V(out) -= 0.25 * solve(U.transpose() * U, objective.V(In<double>(gradient)));
  Vector stepped = w;
  step_once<double>(objective, stepped, 0.25, {.damping = 0.0});
  EXPECT_LE((stepped - expected).norm(), tolerance::golden_trajectory * expected.norm());
}

// A round trip in full: there by an element g of GL(r), a gradient step, and back. The gauge for U
// is V V' = I, that for V is U'U = I.
TEST(WhiteGauge, OfAFactorPairIsAStepThatComesBack) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  Random random(2);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Matrix U = objective.U(w), V = objective.V(w);
  const auto trip = [&](const Matrix& g, bool first) {
    // (U, V) -> (U g, g^-1 V) and back, one factor stepping.
    Vector there(w.size()), gradient(w.size());
    Out<double> out(there), slope(gradient);
    objective.U(out) = U * g;
    objective.V(out) = inverse(g) * V;
    objective.gradient(there, gradient);
    return first ? Matrix((U * g - 0.25 * objective.U(slope)) * inverse(g))
                 : Matrix(g * (inverse(g) * V - 0.25 * objective.V(slope)));
  };
  const SymmetricEigen of_V = symmetric_eigen(V * V.transpose());
  const SymmetricEigen of_U = symmetric_eigen(U.transpose() * U);
  // g^-1 V V' g^-T = I for g = (V V')^(1/2); g'U'U g = I for g = (U'U)^(-1/2).
  const Matrix white_V =
      of_V.vectors * of_V.values.cwiseSqrt().asDiagonal() * of_V.vectors.transpose();
  const Matrix white_U =
      of_U.vectors * of_U.values.cwiseSqrt().cwiseInverse().asDiagonal() * of_U.vectors.transpose();
  Vector stepped = w;
  step_once<double>(objective, stepped, 0.25, {.damping = 0.0});
  EXPECT_LE((objective.U(stepped) - trip(white_V, true)).norm(), tolerance::accumulated * U.norm());
  EXPECT_LE((objective.V(stepped) - trip(white_U, false)).norm(),
            tolerance::accumulated * V.norm());
}

TEST(WhiteGauge, AFactorThatIsZeroStepsAloneAtFirst) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  const WhiteGauge<double>& gauge = *objective.white_gauge();
  Random random(2);
  Vector w = random.normal_matrix(objective.dimension(), 1);
  Out<double> out(w);
  objective.U(out).setZero();
  const Matrix V = objective.V(w);
  Vector memory = Vector::Zero(gauge.memory_size({}));
  gauge.white_step(w, 0.25, {}, memory);
  EXPECT_EQ(Matrix(objective.V(w)), V);
  EXPECT_GT(objective.U(w).norm(), 0.0);
  for (int t = 0; t < 60; ++t) gauge.white_step(w, 0.25, {}, memory);
  EXPECT_LT(objective.value(w), 1e-9);
}

TEST(WhiteGauge, OfAFactorPairDoesNotMindTheCondition) {
  for (const double condition : {1.0, 1e2, 1e4}) {
    const auto objective = MatrixFactorization::conditioned(40, 30, 5, condition, 0);
    const SingularValues svd = singular_values(objective.Y());
    EXPECT_NEAR(svd.values[0] / svd.values[4], condition, 1e-9 * condition);
    Vector w = objective.start();
    Vector memory = Vector::Zero(objective.white_gauge()->memory_size({}));
    int steps = 0;
    while (objective.value(w) >= 1e-9 && steps < 1000) {
      objective.white_gauge()->white_step(w, 0.25, {}, memory);
      ++steps;
    }
    EXPECT_LE(steps, 60) << "condition " << condition;
  }
}

}  // namespace
}  // namespace symport
