// SPDX-License-Identifier: MIT
#include "symport/search/criterion.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/numbers.hpp"
#include "support/stub_orbit.hpp"
#include "support/worth.hpp"
#include "symport/core/invalid_argument.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::StubOrbit;

const double infinity = std::numeric_limits<double>::infinity();

TEST(Criterion, ValuesAreThoseOfTheirFormulas) {
  StubOrbit orbit;
  const auto value = [&](ObjectiveKind kind) {
    return Criterion({.objective = kind, .learning_rate = 0.1}).value(orbit);
  };
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::gradient_norm), 2.0);
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::predicted_decrease), 0.1 * 2.0 - 0.5 * 0.01 * 3.0);
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::decrement), 2.0 * 2.0 / (2.0 * 3.0));
}

TEST(Criterion, WeightsArePartialDerivativesOfTheValue) {
  constexpr double e = 1e-3;
  for (const ObjectiveKind kind : testing::all_objective_kinds) {
    const Criterion criterion({.objective = kind, .learning_rate = 0.1});
    StubOrbit orbit;
    const auto weights = criterion.weights(orbit);
    const double in_J = testing::central_difference(
        [&](double h) {
          StubOrbit near = orbit;
          near.J += h;
          return criterion.value(near);
        },
        e);
    const double in_Phi = testing::central_difference(
        [&](double h) {
          StubOrbit near = orbit;
          near.Phi += h;
          return criterion.value(near);
        },
        e);
    EXPECT_NEAR(weights.grad_sq, in_J, tolerance::difference) << to_string(kind);
    EXPECT_NEAR(weights.curvature, in_Phi, tolerance::difference) << to_string(kind);
  }
}

TEST(Criterion, JudgesTheOptimizersOwnStepWhereThereIsOne) {
  StubOrbit orbit;
  orbit.step = StepForecast{0.6, 0.2};
  const Criterion criterion({.learning_rate = 0.1});
  EXPECT_DOUBLE_EQ(criterion.value(orbit), 0.6 - 0.1);
  EXPECT_DOUBLE_EQ(criterion.rate(orbit), 0.6 / 2.0);
  EXPECT_DOUBLE_EQ(criterion.weights(orbit).grad_sq, 0.3);
  EXPECT_DOUBLE_EQ(criterion.weights(orbit).curvature, -0.5 * 0.3 * 0.3);
  // The paper's objective looks at no step.
  EXPECT_DOUBLE_EQ(Criterion({.objective = ObjectiveKind::gradient_norm}).value(orbit), 2.0);
}

TEST(Criterion, DecrementIsUndefinedWithoutPositiveCurvature) {
  const Criterion criterion({.objective = ObjectiveKind::decrement});
  for (const double Phi : {0.0, -1.0}) {
    StubOrbit orbit;
    orbit.Phi = Phi;
    EXPECT_TRUE(std::isnan(criterion.value(orbit)));
    EXPECT_GT(criterion.weights(orbit).grad_sq, 0.0);
    EXPECT_EQ(criterion.weights(orbit).curvature, 0.0);
  }
}

TEST(Criterion, BoundLimitsTheCurvatureAlongTheStep) {
  StubOrbit orbit;  // eta Phi / J = 0.15
  const auto allowed = [&](double bound) {
    return Criterion(
               {.objective = ObjectiveKind::gradient_norm, .learning_rate = 0.1, .bound = bound})
        .allows(orbit);
  };
  EXPECT_TRUE(allowed(0.16));
  EXPECT_FALSE(allowed(0.14));
  EXPECT_TRUE(allowed(infinity));
}

struct CapRow {
  const char* why;
  double start_lambda, lambda, start_next, next;
  bool allowed;
};

// At a learning rate of 0.1 the cap 1.5 is a largest curvature of 15, stability ends at 20.
TEST(Criterion, CapLimitsTheLargestCurvatureAndTheNextLoss) {
  const CapRow table[] = {
      {"well below the cap", 4.0, 5.0, 1.0, 1.0, true},
      {"at the cap", 4.0, 15.0, 1.0, 0.5, true},
      {"above the cap", 4.0, 15.1, 1.0, 0.5, false},
      {"above the cap, but no more than before", 18.0, 17.0, 1.0, 0.5, true},
      {"no more than before, but unstable", 30.0, 25.0, 1.0, 0.5, false},
      {"the next step ends higher", 4.0, 5.0, 1.0, 1.1, false},
      {"any end is better than a non-finite one", 4.0, 5.0, std::nan(""), 1.1, true},
      {"a non-finite end is never allowed", 4.0, 5.0, 1.0, std::nan(""), false},
      {"a non-finite curvature is never allowed", 4.0, std::nan(""), 1.0, 1.0, false},
  };
  for (const CapRow& row : table) {
    Criterion criterion({.learning_rate = 0.1});
    StubOrbit orbit;
    orbit.lambda = row.start_lambda;
    orbit.loss_next = row.start_next;
    criterion.begin(orbit);
    orbit.lambda = row.lambda;
    orbit.loss_next = row.next;
    EXPECT_EQ(criterion.allows(orbit), row.allowed) << row.why;
  }
}

TEST(Criterion, CapIsOnForThePredictedDecreaseAloneUnlessSet) {
  StubOrbit wild;
  wild.lambda = 1e6;
  const auto allowed = [&](ObjectiveKind kind, std::optional<double> cap) {
    Criterion criterion({.objective = kind, .learning_rate = 0.1, .cap = cap});
    StubOrbit start;
    criterion.begin(start);
    return criterion.allows(wild);
  };
  EXPECT_FALSE(allowed(ObjectiveKind::predicted_decrease, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::gradient_norm, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::decrement, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::predicted_decrease, infinity));
  EXPECT_FALSE(allowed(ObjectiveKind::gradient_norm, 1.5));
}

TEST(Criterion, ValuesOfAMeasurementAreThoseOfAnOrbitWithItsNumbers) {
  for (const ObjectiveKind kind : testing::all_objective_kinds) {
    StubOrbit orbit;
    const Criterion criterion({.objective = kind, .learning_rate = 0.1});
    EXPECT_EQ(criterion.value({.grad_sq = orbit.J, .curvature = orbit.Phi}),
              criterion.value(orbit));
    orbit.step = StepForecast{0.6, 0.2};
    EXPECT_EQ(criterion.value({orbit.J, orbit.Phi, orbit.step}), criterion.value(orbit));
    EXPECT_EQ(criterion.rate({orbit.J, orbit.Phi, orbit.step}), criterion.rate(orbit));
  }
}

TEST(Criterion, PrefersTheLargerValueAndAnyValueToNone) {
  EXPECT_TRUE(Criterion::better(2.0, 1.0));
  EXPECT_FALSE(Criterion::better(1.0, 1.0));
  EXPECT_TRUE(Criterion::better(-1.0, std::nan("")));
  EXPECT_FALSE(Criterion::better(std::nan(""), std::nan("")));
  EXPECT_FALSE(Criterion::better(infinity, 1.0));
}

TEST(Criterion, ObjectsToACandidateThatIsNoImprovementOrBeyondTheBounds) {
  using ::testing::HasSubstr, ::testing::IsEmpty;
  StubOrbit start;  // J = 2, Phi = 3
  const auto objection = [&](const CriterionOptions& options, double J, double Phi, double slack) {
    Criterion criterion(options);
    criterion.begin(start);
    return criterion.objection({.grad_sq = J, .curvature = Phi}, slack);
  };
  const CriterionOptions norm{
      .objective = ObjectiveKind::gradient_norm, .learning_rate = 0.1, .bound = 0.2};
  EXPECT_THAT(objection(norm, 2.1, 3.0, 0.0), IsEmpty());
  EXPECT_THAT(objection(norm, 2.0, 3.0, 0.0), HasSubstr("no improvement"));
  EXPECT_THAT(objection(norm, std::nan(""), 3.0, 0.0), HasSubstr("no improvement"));
  EXPECT_THAT(objection(norm, 2.1, 4.3, 0.0), HasSubstr("eta Phi / J"));
  EXPECT_THAT(objection(norm, 2.1, 4.3, 0.1), IsEmpty());
  const CriterionOptions decrement{.objective = ObjectiveKind::decrement, .largest_decrement = 1.0};
  EXPECT_THAT(objection(decrement, 2.0, 2.5, 0.0), IsEmpty());
  EXPECT_THAT(objection(decrement, 2.0, 1.5, 0.0), HasSubstr("decrement is 1.3"));
  // From a start without a value anything that has one will do.
  start.Phi = -1.0;
  EXPECT_THAT(objection(decrement, 0.1, 2.5, 0.0), IsEmpty());
  EXPECT_THAT(objection(decrement, 0.1, -2.5, 0.0), HasSubstr("no improvement"));
}

TEST(Criterion, ObjectsToAStepOfTheOptimizerThatIsWorseThanAtTheStart) {
  StubOrbit start;
  start.step = StepForecast{0.6, 0.2};
  Criterion criterion({.learning_rate = 0.1});
  EXPECT_EQ(criterion.begin(start), 0.5);
  EXPECT_TRUE(criterion.uses_forecast());
  EXPECT_EQ(criterion.objection({2.0, 3.0, StepForecast{0.7, 0.2}}, 0.0), "");
  EXPECT_NE(criterion.objection({9.0, 3.0, StepForecast{0.5, 0.2}}, 0.0), "");
  EXPECT_FALSE(Criterion({.objective = ObjectiveKind::gradient_norm}).uses_forecast());
}

TEST(ObjectiveKind, HasAName) {
  EXPECT_EQ(to_string(ObjectiveKind::gradient_norm), "gradient_norm");
  EXPECT_EQ(to_string(ObjectiveKind::predicted_decrease), "predicted_decrease");
  EXPECT_EQ(to_string(ObjectiveKind::decrement), "decrement");
}

}  // namespace
}  // namespace symport
