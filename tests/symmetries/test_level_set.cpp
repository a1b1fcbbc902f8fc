// SPDX-License-Identifier: MIT
#include "symport/symmetries/level_set.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/objectives.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/rotation.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

struct Tally {
  int accepted = 0, refused = 0;
};

/// Teleports from w in several ways; none may leave the sublevel set or touch a refused start.
template <Real Scalar>
void expect_within(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& start,
                   Tally& tally) {
  const LevelSet<Scalar> level_set;
  const ClosedFormSearch closed;
  const OrbitAscent ascent;
  const double before = objective.value(start);
  const double depth = std::same_as<Scalar, double> ? 1e-8 : 1e-4;
  for (const Search* search :
       {static_cast<const Search*>(&closed), static_cast<const Search*>(&ascent)}) {
    for (const ObjectiveKind kind : {ObjectiveKind::gradient_norm, ObjectiveKind::decrement}) {
      VectorOf<Scalar> w = start;
      const Certificate c = teleport<Scalar>(
          objective, w, {.symmetry = &level_set, .search = search, .objective = kind});
      if (!c.accepted) {
        ++tally.refused;
        ASSERT_TRUE((w.array() == start.array()).all()) << c.reason;
        continue;
      }
      ++tally.accepted;
      const double after = objective.value(w);
      ASSERT_LE(after, before) << c.reason;
      ASSERT_GE(after, before - depth * std::abs(before)) << c.reason;
      if (kind == ObjectiveKind::gradient_norm) {
        ASSERT_GT(c.grad_sq_after, c.grad_sq_before) << c.reason;
      }
    }
  }
}

TEST(LevelSet, NeverLeavesTheSublevelSetOfFunctions) {
  Random random(184);
  Tally tally;
  for (const auto& row : testing::objective_table()) {
    SCOPED_TRACE(row.name);
    for (int start = 0; start < 40; ++start) {
      const double size = std::pow(10.0, random.uniform() * 2.0 - 1.0);
      expect_within<double>(
          *row.objective, testing::random_vector(row.objective->dimension(), random, size), tally);
    }
  }
  std::cout << tally.accepted << " accepted, " << tally.refused << " refused\n";
  EXPECT_GT(tally.accepted, 2 * tally.refused);
}

template <class Scalar>
class LevelSetIn : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LevelSetIn, Scalars);

TYPED_TEST(LevelSetIn, NeverLeavesTheSublevelSetOfNetworks) {
  Random random(185);
  Tally tally;
  for (const char* activation : {"leaky_relu", "tanh", "relu", "gelu"}) {
    for (const char* loss : {"cross_entropy", "mean_squares"}) {
      for (int start = 0; start < 5; ++start) {
        SCOPED_TRACE(std::string(activation) + ' ' + loss);
        const auto problem =
            testing::random_problem<TypeParam>({4, 6, 5, 3}, activation, loss, true, 12, random);
        expect_within<TypeParam>(problem.objective, problem.w, tally);
      }
    }
  }
  std::cout << tally.accepted << " accepted, " << tally.refused << " refused\n";
  EXPECT_GT(tally.accepted, tally.refused);
}

// On wᵀAw the largest gradient of a level is at the top eigenvector: J = 4 lambda L.
TEST(LevelSet, FindsTheLargestGradientOfAQuadratic) {
  const Quadratic quadratic = testing::dense_quadratic(5);
  const LevelSet<double> level_set({.max_steps = 200, .stationary = 1e-6});
  const ClosedFormSearch search({.max_kappa = 1e6});
  Random random(186);
  for (int start = 0; start < 10; ++start) {
    Vector w = testing::random_vector(5, random);
    const Certificate c = teleport<double>(
        quadratic, w,
        {.symmetry = &level_set, .search = &search, .objective = ObjectiveKind::gradient_norm});
    ASSERT_TRUE(c.accepted) << c.reason;
    const double largest = symmetric_eigen(quadratic.A()).values[4];
    EXPECT_LE(distance(c.grad_sq_after, 4.0 * largest * c.loss_before), 1e-3);
  }
}

// In two dimensions the level set of |u|^2 is the orbit of SO(2), where the scan is global.
TEST(LevelSet, GoesWhereTheScanOfTheCircleGoesOnBooth) {
  const Booth booth;
  const LevelSet<double> level_set({.max_steps = 100, .stationary = 1e-6});
  const RotationSymmetry circle = booth_rotation();
  const ClosedFormSearch closed({.max_kappa = 1e6});
  const AngleScan scan;
  Vector w = booth.start(), v = w;
  const TeleportOptions<double> options{.search = &closed,
                                        .objective = ObjectiveKind::gradient_norm};
  auto with = options;
  with.symmetry = &level_set;
  const Certificate a = teleport<double>(booth, w, with);
  with.symmetry = &circle;
  with.search = &scan;
  const Certificate b = teleport<double>(booth, v, with);
  ASSERT_TRUE(a.accepted) << a.reason;
  ASSERT_TRUE(b.accepted) << b.reason;
  EXPECT_LE(distance(a.grad_sq_after, b.grad_sq_after), 1e-3);
}

TEST(LevelSet, SaysThatANetworksLossIsKeptOnItsBatch) {
  Random random(187);
  const auto problem =
      testing::random_problem<double>({4, 6, 3}, "tanh", "cross_entropy", true, 12, random);
  const auto orbit = LevelSet<double>().orbit(problem.objective, problem.w);
  EXPECT_EQ(orbit->scope().data, Scope::Data::batch);
  EXPECT_EQ(orbit->scope().samples, 12);
}

}  // namespace
}  // namespace symport
