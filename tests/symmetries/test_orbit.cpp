// SPDX-License-Identifier: MIT
#include "symport/symmetries/orbit.hpp"

#include <gtest/gtest.h>

#include "support/orbit_rows.hpp"
#include "support/worth.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/symmetries/linear_data.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;
using testing::OrbitRow;
using testing::point_of;

/// Orbits at general points of themselves: the starts, moved somewhere along them.
std::vector<OrbitRow> orbits() {
  Random random(81);
  std::vector<OrbitRow> rows = testing::matrix_orbits(random, true);
  rows.push_back(testing::linear_data_orbit(random));
  for (OrbitRow& row : rows) {
    row.orbit->aim({1.0, 0.1});
    row.orbit->move(0.2);
    row.orbit->aim({-0.3, 1.0});
    row.orbit->move(0.1);
  }
  return rows;
}

testing::PointNumbers numbers(BasicOrbit<double>& orbit) {
  return testing::numbers_at(orbit.objective(), point_of(orbit));
}

TEST(Orbit, SaysGradientNormAndCurvatureOfItsPoint) {
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const auto expected = numbers(*row.orbit);
    EXPECT_LE(distance(row.orbit->grad_sq(), expected.grad_sq), tolerance::accumulated);
    EXPECT_LE(distance(row.orbit->curvature(), expected.curvature), tolerance::accumulated);
    EXPECT_LE(distance(row.orbit->local_curvature()->largest_eigenvalue(),
                       largest_curvature<double>(row.orbit->objective(), point_of(*row.orbit),
                                                 Vector::Ones(row.start.size()), row.start.size())),
              tolerance::difference);
  }
}

TEST(Orbit, KeepsTheLossWhileItMoves) {
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const double loss = numbers(*row.orbit).loss;
    row.orbit->aim({1.0, 0.0});
    for (const double length : {-1.0, 0.0, 1e-6, 0.5, 2.0}) {
      ASSERT_TRUE(row.orbit->move(length));
      EXPECT_LE(distance(numbers(*row.orbit).loss, loss), tolerance::drift) << length;
    }
  }
}

// Along the direction that `aim` chose, the aimed quantity grows at the rate that it returned.
TEST(Orbit, AimsAlongTheGradientOfTheWeightedSum) {
  constexpr double e = 1e-4;
  for (OrbitRow& row : orbits()) {
    const double J = row.orbit->grad_sq(), Phi = row.orbit->curvature();
    // Weights that make both parts count, and each alone.
    for (const auto& [a, b] :
         {std::pair{1.0, 0.0}, {0.0, 1.0}, {1.0, -J / Phi}, {-1.0, 0.3 * J / Phi}}) {
      SCOPED_TRACE(row.name + " weights " + std::to_string(a) + " " + std::to_string(b));
      row.orbit->back();
      const double norm = row.orbit->aim({a, b});
      const double slope = testing::central_difference(
          [&](double length) {
            row.orbit->move(length);
            return a * row.orbit->grad_sq() + b * row.orbit->curvature();
          },
          e);
      EXPECT_GE(norm, 0.0);
      EXPECT_NEAR(slope, norm,
                  tolerance::difference * (norm + std::abs(a * J) + std::abs(b * Phi)));
      row.orbit->back();
    }
  }
}

// <grad J, grad Phi> can be measured from either side; a direction that is not the gradient but has
// the right slope along itself would disagree.
TEST(Orbit, DirectionsAreGradientsInOneInnerProduct) {
  constexpr double e = 1e-4;
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const auto slope_of = [&](auto quantity) {
      return testing::central_difference(
          [&](double length) {
            row.orbit->move(length);
            return quantity();
          },
          e);
    };
    row.orbit->back();
    const double norm_J = row.orbit->aim({1.0, 0.0});
    const double one = norm_J * slope_of([&] { return row.orbit->curvature(); });
    row.orbit->back();
    const double norm_Phi = row.orbit->aim({0.0, 1.0});
    const double other = norm_Phi * slope_of([&] { return row.orbit->grad_sq(); });
    EXPECT_NEAR(one, other, 10 * tolerance::difference * norm_J * norm_Phi);
  }
}

TEST(Orbit, AimMakesTheCurrentPointTheBase) {
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const Vector here = point_of(*row.orbit);
    row.orbit->aim({1.0, 0.0});
    row.orbit->move(0.3);
    EXPECT_GT(distance(point_of(*row.orbit), here), 1e-6);
    row.orbit->back();
    EXPECT_LE(distance(point_of(*row.orbit), here), tolerance::rounding);
  }
}

TEST(Orbit, TransportsGradientsAsTheActionDoes) {
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    Vector moved(row.start.size()), expected(row.start.size());
    row.orbit->objective().gradient(row.start, moved);
    if (!row.orbit->transport(moved)) {
      EXPECT_EQ(row.name, "linear model and its data");
      continue;
    }
    row.orbit->objective().gradient(point_of(*row.orbit), expected);
    EXPECT_LE(distance(moved, expected), tolerance::accumulated);
  }
}

TEST(Orbit, RandomElementsKeepTheLoss) {
  Random random(82);
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const double loss = numbers(*row.orbit).loss;
    const Vector here = point_of(*row.orbit);
    if (!row.orbit->randomize(random, 0.5)) continue;
    EXPECT_GT(distance(point_of(*row.orbit), here), 1e-6);
    EXPECT_LE(distance(numbers(*row.orbit).loss, loss), tolerance::drift);
  }
}

TEST(Orbit, ItsPlaceChangesWhenThePointMoves) {
  for (OrbitRow& row : orbits()) {
    SCOPED_TRACE(row.name);
    const auto before = row.orbit->place();
    row.orbit->grad_sq();
    row.orbit->curvature();
    point_of(*row.orbit);
    EXPECT_EQ(row.orbit->place(), before);
    row.orbit->aim({1.0, 0.0});
    row.orbit->move(0.1);
    EXPECT_NE(row.orbit->place(), before);
  }
}

TEST(Orbit, CountsItsWorkInGradients) {
  for (const auto& row : testing::symmetry_table()) {
    SCOPED_TRACE(row.name);
    const CountingObjective<double> counting(*row.objective);
    Random random(83);
    const Vector w = testing::random_vector(row.objective->dimension(), random);
    const auto orbit = row.symmetry->orbit(counting, w);
    orbit->grad_sq();
    orbit->curvature();
    orbit->curvature();
    orbit->aim({1.0, 0.0});
    orbit->move(0.1);
    orbit->grad_sq();
    orbit->aim({1.0, -1.0});
    orbit->aim({.covector = w});
    orbit->move(0.2);
    EXPECT_EQ(orbit->evaluations(), counting.count().gradient_equivalents());
  }
}

TEST(LinearDataOrbit, AppliesItsElementToTheData) {
  const auto model = testing::random_linear_model(2, 3, 5);
  Random random(84);
  const Vector w = testing::random_vector(6, random);
  const auto orbit = LinearDataSymmetry().orbit(model, w);
  orbit->aim({1.0, 0.0});
  orbit->move(0.4);
  const Matrix g = orbit->data_element();
  EXPECT_GT((g - Matrix::Identity(3, 3)).norm(), 0.1);
  const auto& moved = dynamic_cast<const LinearModel&>(orbit->objective());
  EXPECT_LE(distance(moved.X(), g * model.X()), tolerance::rounding);
  Vector there(6);
  orbit->commit(there);
  const Matrix unseen = random.normal_matrix(3, 4);
  EXPECT_LE(distance(model.predict(there, g * unseen), model.predict(w, unseen)),
            tolerance::rounding);
}

TEST(Orbit, HasNoCandidatesUnlessItSaysSo) {
  const Rosenbrock rosenbrock;
  const auto symmetry = rosenbrock_rotation();
  const auto orbit = symmetry.orbit(rosenbrock, rosenbrock.start());
  EXPECT_FALSE(orbit->has_candidates());
  EXPECT_TRUE(orbit->candidates({}).empty());
}

}  // namespace
}  // namespace symport
