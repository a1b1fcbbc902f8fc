// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/candidates.hpp"
#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::numbers_at, testing::worth;

TEST(OrthogonalSymmetry, SolutionBeatsTenThousandRandomElements) {
  const auto quadratic = Quadratic::diagonal(4, 20.0);
  Random random(91);
  const Matrix Q = random_orthogonal(4, random, false);
  const Quadratic turned(Matrix(
      0.5 * (Q * quadratic.A() * Q.transpose() + (Q * quadratic.A() * Q.transpose()).transpose())));
  for (const Quadratic& objective : {quadratic, turned, testing::dense_quadratic(4)}) {
    const OrthogonalSymmetry symmetry(objective);
    const Vector start = testing::random_vector(4, random);
    std::vector<testing::PointNumbers> others;
    for (int i = 0; i < 10000; ++i) {
      Vector w = start;
      symmetry.act(symmetry.random_element(random, 0.0), w);
      others.push_back(numbers_at(objective, w));
    }
    for (const ObjectiveKind kind : testing::all_objective_kinds) {
      // Rates at which the best eigenvalue is the largest, one in the middle, the smallest.
      for (const double eta : {0.01, 0.1, 0.6}) {
        SCOPED_TRACE(std::string(to_string(kind)) + " eta " + std::to_string(eta));
        const auto orbit = symmetry.orbit(objective, start);
        ASSERT_TRUE(testing::go_to_candidate(*orbit, 1.0, kind, eta));
        Vector best(4);
        orbit->commit(best);
        EXPECT_LE(testing::distance(objective.value(best), objective.value(start)),
                  tolerance::rounding);
        const double found = worth(kind, eta, numbers_at(objective, best));
        double rival = -std::numeric_limits<double>::infinity();
        for (const auto& other : others) rival = std::max(rival, worth(kind, eta, other));
        EXPECT_GE(found, rival - tolerance::rounding * std::abs(found));
      }
    }
  }
}

TEST(OrthogonalSymmetry, SolvesWhenAlreadyThere) {
  const auto objective = Quadratic::diagonal(3, 10.0);
  const OrthogonalSymmetry symmetry(objective);
  const Vector eigenvector{{0.0, 0.0, -2.0}};
  const auto orbit = symmetry.orbit(objective, eigenvector);
  ASSERT_TRUE(testing::go_to_candidate(*orbit));
  Vector w(3);
  orbit->commit(w);
  EXPECT_LE(testing::distance(w, eigenvector), tolerance::rounding);
}

TEST(FactorPairSymmetry, SolutionBeatsRandomElementsWithinItsBound) {
  Random random(92);
  for (const auto& [rows, cols, rank] :
       {std::tuple<Index, Index, Index>{3, 4, 2}, {5, 2, 3}, {3, 3, 1}}) {
    const auto objective = testing::full_rank_factorization(rows, cols, rank);
    const FactorPairSymmetry symmetry(objective);
    const Vector start = testing::random_vector(objective.dimension(), random);
    for (const double kappa : {1.0, 1.5, 4.0}) {
      SCOPED_TRACE("rank " + std::to_string(rank) + " kappa " + std::to_string(kappa));
      const auto orbit = symmetry.orbit(objective, start);
      ASSERT_TRUE(testing::go_to_candidate(*orbit, kappa));
      Vector best(start.size());
      orbit->commit(best);
      EXPECT_LE(testing::distance(objective.value(best), objective.value(start)),
                tolerance::rounding);
      EXPECT_LE(orbit->condition(), kappa * kappa * (1.0 + tolerance::rounding));
      const double found = numbers_at(objective, best).grad_sq;
      double rival = 0.0;
      for (int i = 0; i < 3000; ++i) {
        // Singular values within [1/kappa, kappa], every other time at its ends.
        Vector singular(rank);
        for (double& s : singular) {
          const double part = random.uniform(-1.0, 1.0);
          s = std::pow(kappa, i % 2 == 0 ? part : (part > 0 ? 1.0 : -1.0));
        }
        Vector w = start;
        symmetry.act(random_orthogonal(rank, random, false) * singular.asDiagonal() *
                         random_orthogonal(rank, random, false),
                     w);
        rival = std::max(rival, numbers_at(objective, w).grad_sq);
      }
      EXPECT_GE(found, rival * (1.0 - tolerance::rounding));
      EXPECT_LE(found,
                kappa * kappa * numbers_at(objective, start).grad_sq * (1.0 + tolerance::rounding));
    }
  }
}

}  // namespace
}  // namespace symport
