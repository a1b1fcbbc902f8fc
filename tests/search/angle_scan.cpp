// SPDX-License-Identifier: MIT
#include "symport/search/angle_scan.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/search/teleport.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::numbers_at, testing::worth;

const double infinity = std::numeric_limits<double>::infinity();

/// The numbers at equally spaced angles.
std::vector<testing::PointNumbers> around(const RotationSymmetry& symmetry,
                                          const Objective& objective, const Vector& start,
                                          int angles) {
  std::vector<testing::PointNumbers> all;
  for (int i = 0; i < angles; ++i) {
    const double theta = 2.0 * std::numbers::pi * i / angles;
    Vector w = start;
    symmetry.act(Matrix{{std::cos(theta), -std::sin(theta)}, {std::sin(theta), std::cos(theta)}}, w);
    all.push_back(numbers_at(objective, w));
  }
  return all;
}

struct Circle {
  std::string name;
  RotationSymmetry symmetry;
  std::shared_ptr<const Objective> objective;
  double rate;
  bool convex;
};

std::vector<Circle> circles() {
  return {{"ellipse", ellipse_rotation(5.0), std::make_shared<Ellipse>(5.0), 0.02, true},
          {"rosenbrock", rosenbrock_rotation(), std::make_shared<Rosenbrock>(), 1e-3, false},
          {"booth", booth_rotation(), std::make_shared<Booth>(), 0.08, true},
          {"user", testing::user_rotation(), testing::user_objective(), 0.05, false}};
}

TEST(AngleScan, FindsTheGlobalMaximum) {
  Random random(121);
  for (const Circle& circle : circles()) {
    for (int trial = 0; trial < 2; ++trial) {
      const Vector start = testing::random_vector(2, random);
      const auto everywhere = around(circle.symmetry, *circle.objective, start, 100000);
      for (const ObjectiveKind kind : testing::all_objective_kinds) {
        // Where Phi passes through 0 the decrement has no maximum.
        if (kind == ObjectiveKind::decrement && !circle.convex) continue;
        SCOPED_TRACE(circle.name + " " + std::string(to_string(kind)));
        double best = -infinity;
        for (const auto& at : everywhere) best = std::max(best, worth(kind, circle.rate, at));
        Vector w = start;
        const Certificate c = teleport<double>(
            *circle.objective, *circle.symmetry.orbit(*circle.objective, w), AngleScan(),
            {.objective = kind, .learning_rate = circle.rate, .cap = infinity}, random, w);
        const double found = worth(kind, circle.rate, numbers_at(*circle.objective, w));
        EXPECT_GE(found, best - tolerance::found_value * std::abs(best)) << c.reason;
        EXPECT_LE(c.drift, tolerance::drift);
      }
    }
  }
}

TEST(AngleScan, FindsTheSameMaximumFromEveryPointOfTheOrbit) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  Random random(122);
  Vector first;
  for (const double theta : {0.0, 1.0, 2.5, -2.0}) {
    Vector w = objective.start();
    symmetry.act(Matrix{{std::cos(theta), -std::sin(theta)}, {std::sin(theta), std::cos(theta)}}, w);
    teleport<double>(objective, *symmetry.orbit(objective, w), AngleScan(),
                     {.objective = ObjectiveKind::gradient_norm}, random, w);
    if (first.size() == 0) first = w;
    EXPECT_LE(testing::distance(w, first), tolerance::found_place) << theta;
  }
}

// The cap cuts the circle into arcs; the best allowed angle may lie at the end of one.
TEST(AngleScan, ComesCloseToTheBestAllowedAngle) {
  Random random(123);
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  for (int trial = 0; trial < 10; ++trial) {
    const Vector start = testing::random_vector(2, random, 0.7);
    const CriterionOptions options{.learning_rate = 1e-3};
    const auto orbit = symmetry.orbit(objective, start);
    Criterion criterion(options);
    criterion.begin(*orbit);
    const double at_start = criterion.value(*orbit);
    double best = at_start;
    for (int i = 0; i < 20000; ++i) {
      orbit->move(2.0 * std::numbers::pi * i / 20000);
      if (criterion.value(*orbit) > best && criterion.allows(*orbit)) best = criterion.value(*orbit);
    }
    orbit->back();
    Vector w = start;
    teleport<double>(objective, *symmetry.orbit(objective, w), AngleScan(), options, random, w);
    const double found =
        worth(ObjectiveKind::predicted_decrease, 1e-3, numbers_at(objective, w));
    EXPECT_GE(found - at_start, 0.8 * (best - at_start)) << start.transpose();
  }
}

}  // namespace
}  // namespace symport
