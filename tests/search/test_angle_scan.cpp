// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
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

/// The numbers at equally spaced angles.
std::vector<testing::PointNumbers> around(const RotationSymmetry& symmetry,
                                          const Objective& objective, const Vector& start,
                                          int angles) {
  std::vector<testing::PointNumbers> all;
  for (int i = 0; i < angles; ++i) {
    const double theta = 2.0 * std::numbers::pi * i / angles;
    Vector w = start;
    symmetry.act(Matrix{{std::cos(theta), -std::sin(theta)}, {std::sin(theta), std::cos(theta)}},
                 w);
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
    symmetry.act(Matrix{{std::cos(theta), -std::sin(theta)}, {std::sin(theta), std::cos(theta)}},
                 w);
    teleport<double>(objective, *symmetry.orbit(objective, w), AngleScan(),
                     {.objective = ObjectiveKind::gradient_norm}, random, w);
    if (first.size() == 0) first = w;
    EXPECT_LE(testing::distance(w, first), tolerance::found_place) << theta;
  }
}

/// The best allowed angle among many, and the longest arc of allowed angles that improve.
struct Allowed {
  double start, best, arc;
};

Allowed allowed_around(const RotationSymmetry& symmetry, const Objective& objective,
                       const Vector& start, const CriterionOptions& options) {
  constexpr int angles = 20000;
  const auto orbit = symmetry.orbit(objective, start);
  OrbitMeasures<double> measures(*orbit, options.learning_rate);
  Criterion criterion(options, measures);
  const double at_start = criterion.begin();
  Allowed result{at_start, at_start, 0.0};
  int length = 0, longest = 0;
  for (int i = 0; i < angles; ++i) {
    orbit->move(2.0 * std::numbers::pi * i / angles);
    const double value = criterion.value();
    length = value > result.start && criterion.allows() ? length + 1 : 0;
    longest = std::max(longest, length);
    if (length > 0) result.best = std::max(result.best, value);
  }
  result.arc = 2.0 * std::numbers::pi * longest / angles;
  return result;
}

// The cap cuts the circle into arcs. The scan sees those that are wider than its grid; from a point
// at which the next step would overshoot they can be as narrow as a hundredth of a radian.
TEST(AngleScan, FindsTheBestAllowedAngleOnArcsThatItsGridResolves) {
  Random random(123);
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const CriterionOptions options{.learning_rate = 1e-3};
  for (const Index points : {128, 4096}) {
    const double resolved = 4.0 * std::numbers::pi / static_cast<double>(points);
    int tried = 0;
    for (int trial = 0; trial < 20; ++trial) {
      const Vector start = testing::random_vector(2, random, trial % 2 == 0 ? 0.3 : 1.0);
      const Allowed allowed = allowed_around(symmetry, objective, start, options);
      if (allowed.arc < resolved) continue;
      ++tried;
      Vector w = start;
      teleport<double>(objective, *symmetry.orbit(objective, w), AngleScan({.points = points}),
                       options, random, w);
      const double found = worth(ObjectiveKind::predicted_decrease, 1e-3, numbers_at(objective, w));
      EXPECT_GE(found - allowed.start, 0.95 * (allowed.best - allowed.start)) << start.transpose();
    }
    EXPECT_GE(tried, 3) << points;
  }
}

}  // namespace
}  // namespace symport
