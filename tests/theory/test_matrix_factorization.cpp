// SPDX-License-Identifier: MIT
// Matrix factorisation |Y - U V|^2 with U m x r, V r x n: the imbalance U'U - V V' (r x r).
#include <gtest/gtest.h>

#include <optional>

#include "support/symmetries.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

Matrix imbalance(const MatrixFactorization& problem, const Vector& w) {
  const Matrix U = problem.U(In<double>(w)), V = problem.V(In<double>(w));
  return U.transpose() * U - V * V.transpose();
}

std::vector<MatrixFactorization> problems() {
  return {MatrixFactorization::random(5, 5, 2, 1), MatrixFactorization::random(4, 8, 3, 2),
          MatrixFactorization::random(9, 3, 2, 3)};
}

RunSummary run(const MatrixFactorization& problem, Vector& w, double rate, Index steps,
               const Schedule& schedule, std::optional<Index> rehearsal = std::nullopt) {
  const FactorPairSymmetry symmetry(problem);
  return train<double>(
      problem, GradientDescent<double>(), w,
      {.max_steps = steps,
       .learning_rate = rate,
       .teleport = {.symmetry = &symmetry, .schedule = schedule, .rehearsal = rehearsal}});
}

// Gradient flow conserves the imbalance; short steps of gradient descent nearly do.
TEST(MatrixFactorizationImbalance, IsConservedByGradientDescent) {
  for (const MatrixFactorization& problem : problems()) {
    for (const double rate : {1e-4, 5e-5}) {
      Vector w = problem.start();
      run(problem, w, rate, 200, never());
      // The error of 200 steps is of first order in the rate.
      EXPECT_LE((imbalance(problem, w) - imbalance(problem, problem.start())).norm(),
                2e3 * rate * imbalance(problem, problem.start()).norm());
    }
  }
}

TEST(MatrixFactorizationImbalance, GrowsByTeleportation) {
  for (const MatrixFactorization& problem : problems()) {
    Vector w = problem.start();
    const double before = imbalance(problem, w).norm();
    const RunSummary summary = run(problem, w, 1e-3, 1, at({0}));
    ASSERT_EQ(summary.accepted_teleports(), 1);
    EXPECT_GT(imbalance(problem, w).norm(), 1.5 * before);
    EXPECT_LE(summary.teleports[0].drift, tolerance::drift);
  }
}

TEST(MatrixFactorizationImbalance, SpeedsConvergence) {
  for (const MatrixFactorization& problem : problems()) {
    Vector plain = problem.start(), teleported = problem.start();
    const RunSummary without = run(problem, plain, 1e-3, 400, never());
    const RunSummary with = run(problem, teleported, 1e-3, 400, every(20));
    EXPECT_LT(with.final_loss, 0.1 * without.final_loss);
    EXPECT_GT(imbalance(problem, teleported).norm(), imbalance(problem, plain).norm());
    for (const Certificate& c : with.teleports) {
      if (c.accepted) {
        EXPECT_LE(c.drift, tolerance::drift);
      }
    }
  }
}

// The objective looks one step ahead. One teleport alone speeds the next steps and leaves one
// factor with hardly any learning rate: the run as a whole can then be slower. A rehearsal, which
// is the default, sees that coming.
TEST(MatrixFactorizationImbalance, OfOneTeleportSpeedsTheNextStepsOnly) {
  const auto problem = MatrixFactorization::random(4, 8, 3, 2);
  Vector plain = problem.start(), teleported = problem.start();
  const auto without = run(problem, plain, 1e-3, 1000, never()).trace.rows;
  const auto with = run(problem, teleported, 1e-3, 1000, at({0}), 0).trace.rows;
  for (std::size_t t = 1; t <= 50; ++t) EXPECT_LT(with[t].loss, without[t].loss) << "step " << t;
  EXPECT_GT(with[1000].loss, without[1000].loss);
  Vector rehearsed = problem.start();
  EXPECT_LE(run(problem, rehearsed, 1e-3, 1000, at({0})).final_loss, without[1000].loss);
}

}  // namespace
}  // namespace symport
