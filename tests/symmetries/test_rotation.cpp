// SPDX-License-Identifier: MIT
#include "symport/symmetries/rotation.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "core/dense.hpp"
#include "support/golden.hpp"
#include "support/symmetries.hpp"
#include "symport/core/invalid_argument.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

struct GoldenRow {
  std::string name;
  RotationSymmetry symmetry;
  std::shared_ptr<const Objective> objective;
};

std::vector<GoldenRow> golden_rows() {
  return {{"rosenbrock", rosenbrock_rotation(), std::make_shared<Rosenbrock>()},
          {"booth", booth_rotation(), std::make_shared<Booth>()},
          {"ellipse_a5", ellipse_rotation(5.0), std::make_shared<Ellipse>(5.0)}};
}

Vector point(BasicOrbit<double>& orbit, Index n) {
  Vector w(n);
  orbit.commit(w);
  return w;
}

TEST(GoldenNumbers, RotationsMoveThePointsThere) {
  const auto golden = testing::read_golden("test_functions.json");
  for (const GoldenRow& row : golden_rows()) {
    ASSERT_GE(golden.at(row.name).at("so2").size(), 5u);
    for (const auto& expected : golden.at(row.name).at("so2")) {
      const Vector x = testing::golden_vector(expected.at("x"));
      const double theta = expected.at("theta");
      SCOPED_TRACE(row.name + " theta " + std::to_string(theta));
      const auto orbit = row.symmetry.orbit(*row.objective, x);
      ASSERT_TRUE(orbit->move(theta));
      const Vector there = point(*orbit, 2);
      EXPECT_LE(distance(there, testing::golden_vector(expected.at("x_teleported"))),
                tolerance::golden_action);
      EXPECT_LE(distance(row.objective->value(there), expected.at("loss").get<double>()),
                tolerance::golden_action);
      EXPECT_LE(distance(orbit->grad_sq(), expected.at("grad_sq").get<double>()),
                tolerance::golden_action);
      // The same through the general action.
      const Matrix g{{std::cos(theta), -std::sin(theta)}, {std::sin(theta), std::cos(theta)}};
      Vector acted = x;
      row.symmetry.act(g, acted);
      EXPECT_LE(distance(acted, there), tolerance::golden_action);
    }
  }
}

TEST(GoldenNumbers, AscentDirectionOnTheCircleIsTheDerivativeInTheAngle) {
  const auto golden = testing::read_golden("test_functions.json");
  for (const GoldenRow& row : golden_rows()) {
    for (const auto& expected : golden.at(row.name).at("so2")) {
      const Vector x = testing::golden_vector(expected.at("x"));
      const double theta = expected.at("theta"), slope = expected.at("d_grad_sq_d_theta");
      SCOPED_TRACE(row.name + " theta " + std::to_string(theta));
      const auto orbit = row.symmetry.orbit(*row.objective, x);
      orbit->move(theta);
      EXPECT_LE(distance(orbit->aim(1.0, 0.0), std::abs(slope)), tolerance::golden_action);
      // Its sign: where the next move goes.
      constexpr double length = 0.01;
      orbit->move(length);
      const auto direct = row.symmetry.orbit(*row.objective, x);
      direct->move(theta + (slope > 0.0 ? length : -length));
      EXPECT_LE(distance(point(*orbit, 2), point(*direct, 2)), tolerance::rounding);
    }
  }
}

TEST(CircleOrbit, ComesRoundAfterItsPeriod) {
  const auto symmetry = booth_rotation();
  const Booth booth;
  const auto orbit = symmetry.orbit(booth, booth.start());
  EXPECT_EQ(orbit->period(), 2.0 * std::numbers::pi);
  orbit->move(0.7);
  const Vector once = point(*orbit, 2);
  orbit->move(0.7 + 3 * orbit->period());
  EXPECT_LE(distance(point(*orbit, 2), once), tolerance::rounding);
}

TEST(CircleOrbit, ChangesNoBitAtTheIdentity) {
  const auto symmetry = rosenbrock_rotation();
  const Rosenbrock rosenbrock;
  const Vector start{{0.1, 0.7}};
  const auto orbit = symmetry.orbit(rosenbrock, start);
  orbit->move(1.0);
  EXPECT_FALSE(testing::identical(point(*orbit, 2), start));
  orbit->back();
  EXPECT_TRUE(testing::identical(point(*orbit, 2), start));
}

TEST(CircleOrbit, DrawsAnglesFromTheWholeCircle) {
  const auto symmetry = ellipse_rotation(1.0);
  const Ellipse circle(1.0);
  const auto orbit = symmetry.orbit(circle, Vector{{1.0, 0.0}});
  Random random(71);
  Vector mean = Vector::Zero(2);
  constexpr int n = 2000;
  for (int i = 0; i < n; ++i) {
    ASSERT_TRUE(orbit->randomize(random, 0.0));
    mean += point(*orbit, 2) / n;
  }
  EXPECT_LE(mean.norm(), tolerance::sigmas / std::sqrt(n));
}

TEST(RandomOrthogonal, IsUniform) {
  Random random(72);
  for (const bool special : {false, true}) {
    for (const Index n : {2, 3, 4}) {
      Matrix mean = Matrix::Zero(n, n);
      int reflections = 0;
      constexpr int draws = 2000;
      for (int i = 0; i < draws; ++i) {
        const Matrix Q = random_orthogonal(n, random, special);
        ASSERT_LE((Q.transpose() * Q - Matrix::Identity(n, n)).norm(), tolerance::rounding);
        reflections += determinant(Q) < 0.0;
        mean += Q / draws;
      }
      // Every entry has mean 0 and variance 1/n.
      EXPECT_LE(mean.cwiseAbs().maxCoeff(),
                tolerance::sigmas / std::sqrt(static_cast<double>(draws * n)));
      if (special) {
        EXPECT_EQ(reflections, 0);
      } else {
        EXPECT_NEAR(reflections, draws / 2, tolerance::sigmas * std::sqrt(draws) / 2);
      }
    }
  }
}

TEST(RotationSymmetry, RefusesAnotherDimensionByName) {
  const Rosenbrock four(2);
  try {
    rosenbrock_rotation(1).orbit(four, four.start());
    FAIL() << "SO(2) on four variables";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "symmetry SO(2)");
  }
  EXPECT_THROW(rosenbrock_rotation(2).orbit(four, Vector::Zero(3)), InvalidArgument);
  const auto quadratic = testing::dense_quadratic(5);
  EXPECT_THROW(OrthogonalSymmetry(quadratic).orbit(four, four.start()), InvalidArgument);
  const auto pair = testing::full_rank_factorization(3, 4, 2);
  EXPECT_THROW(FactorPairSymmetry(pair).orbit(four, four.start()), InvalidArgument);
}

TEST(ChangeOfVariables, RefusesBadInputByField) {
  const auto field = [](const auto& make) -> std::string {
    try {
      make();
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return "accepted";
  };
  EXPECT_EQ(field([] { AffineVariables(Matrix::Ones(2, 3), Vector::Zero(2)); }), "M, b");
  EXPECT_EQ(field([] { AffineVariables(Matrix::Identity(2, 2), Vector::Zero(3)); }), "M, b");
  EXPECT_EQ(field([] { AffineVariables(Matrix::Ones(2, 2), Vector::Zero(2)); }), "M");
  EXPECT_EQ(field([] { rosenbrock_rotation(0); }), "variables");
  EXPECT_EQ(field([] { ellipse_rotation(-2.0); }), "a");
  EXPECT_EQ(field([] { OrthogonalSymmetry(Quadratic::diagonal(1, 1.0)); }), "variables");
}

// Prop. 4.1: the change of variables turns both functions into |u|^2.
TEST(ChangeOfVariables, TurnsTheTestFunctionsIntoTheSquaredNorm) {
  Random random(73);
  for (const auto& row : testing::symmetry_table()) {
    const auto* rotation = dynamic_cast<const RotationSymmetry*>(row.symmetry.get());
    if (!rotation) continue;
    for (const Vector& w : testing::symmetry_points(*row.objective, random)) {
      Vector u(w.size()), back(w.size());
      rotation->variables().to(w, u);
      rotation->variables().from(u, back);
      EXPECT_LE(distance(u.squaredNorm(), row.objective->value(w)), tolerance::rounding)
          << row.name;
      EXPECT_LE(distance(back, w), tolerance::rounding) << row.name;
    }
  }
}

}  // namespace
}  // namespace symport
