// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
#include "symport/search/criterion.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/numbers.hpp"
#include "support/stub_measures.hpp"
#include "support/worth.hpp"
#include "symport/core/invalid_argument.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::StubMeasures;

TEST(Criterion, ValuesAreThoseOfTheirFormulas) {
  StubMeasures at;
  const auto value = [&](ObjectiveKind kind) { return Criterion({.objective = kind}, at).value(); };
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::gradient_norm), 2.0);
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::predicted_decrease), 0.1 * 2.0 - 0.5 * 0.01 * 3.0);
  EXPECT_DOUBLE_EQ(value(ObjectiveKind::decrement), 2.0 * 2.0 / (2.0 * 3.0));
}

TEST(Criterion, SlopesArePartialDerivativesOfTheValue) {
  constexpr double e = 1e-3;
  for (const ObjectiveKind kind : testing::all_objective_kinds) {
    StubMeasures at;
    const Slope slope = Criterion({.objective = kind}, at).slope();
    const auto value = [&](double J, double Phi) {
      StubMeasures near = at;
      near.J += J;
      near.Phi += Phi;
      return Criterion({.objective = kind}, near).value();
    };
    const double in_J = testing::central_difference([&](double h) { return value(h, 0.0); }, e);
    const double in_Phi = testing::central_difference([&](double h) { return value(0.0, h); }, e);
    EXPECT_NEAR(slope.grad_sq, in_J, tolerance::difference) << to_string(kind);
    EXPECT_NEAR(slope.curvature, in_Phi, tolerance::difference) << to_string(kind);
    EXPECT_FALSE(slope.covector);
  }
}

TEST(Criterion, JudgesTheOptimizersOwnStepWhereThereIsOne) {
  StubMeasures at;
  at.step = StepForecast{0.6, 0.2};
  Criterion criterion({}, at);
  EXPECT_DOUBLE_EQ(criterion.value(), 0.6 - 0.1);
  EXPECT_DOUBLE_EQ(at.rate(), 0.6 / 2.0);
  EXPECT_DOUBLE_EQ(criterion.slope().grad_sq, 0.3);
  EXPECT_DOUBLE_EQ(criterion.slope().curvature, -0.5 * 0.3 * 0.3);
  // The paper's objective looks at no step.
  EXPECT_DOUBLE_EQ(Criterion({.objective = ObjectiveKind::gradient_norm}, at).value(), 2.0);
}

TEST(Criterion, DecrementIsUndefinedWithoutPositiveCurvature) {
  for (const double Phi : {0.0, -1.0}) {
    StubMeasures at;
    at.Phi = Phi;
    Criterion criterion({.objective = ObjectiveKind::decrement}, at);
    EXPECT_TRUE(std::isnan(criterion.value()));
    EXPECT_GT(criterion.slope().grad_sq, 0.0);
    EXPECT_EQ(criterion.slope().curvature, 0.0);
  }
}

TEST(Criterion, BoundLimitsTheCurvatureAlongTheStep) {
  StubMeasures at;  // eta Phi / J = 0.15
  const auto allowed = [&](double bound) {
    return Criterion({.objective = ObjectiveKind::gradient_norm, .bound = bound}, at).allows();
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
    StubMeasures at;
    Criterion criterion({}, at);
    at.lambda = row.start_lambda;
    at.loss_next = row.start_next;
    criterion.begin();
    at.lambda = row.lambda;
    at.loss_next = row.next;
    EXPECT_EQ(criterion.allows(), row.allowed) << row.why;
  }
}

TEST(Criterion, CapIsOnForThePredictedDecreaseAloneUnlessSet) {
  const auto allowed = [&](ObjectiveKind kind, std::optional<double> cap) {
    StubMeasures at;
    Criterion criterion({.objective = kind, .cap = cap}, at);
    criterion.begin();
    at.lambda = 1e6;
    return criterion.allows();
  };
  EXPECT_FALSE(allowed(ObjectiveKind::predicted_decrease, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::gradient_norm, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::decrement, std::nullopt));
  EXPECT_TRUE(allowed(ObjectiveKind::predicted_decrease, infinity));
  EXPECT_FALSE(allowed(ObjectiveKind::gradient_norm, 1.5));
}

TEST(Criterion, ADecrementOfMoreThanTwiceTheLossIsNotBelieved) {
  StubMeasures at;  // D* = 2/3
  const CriterionOptions decrement{.objective = ObjectiveKind::decrement};
  EXPECT_TRUE(Criterion(decrement, at, 0.34).allows());
  EXPECT_FALSE(Criterion(decrement, at, 0.33).allows());
  EXPECT_TRUE(Criterion(decrement, at).allows()) << "a loss that is not known limits nothing";
  EXPECT_TRUE(Criterion(decrement, at, -1.0).allows());
  at.Phi = -1.0;
  EXPECT_FALSE(Criterion(decrement, at).allows()) << "without a value";
  EXPECT_TRUE(Criterion({.objective = ObjectiveKind::gradient_norm}, at, 0.1).allows());
}

TEST(Criterion, WorthIsTheValueOfAPointThatIsNotThere) {
  for (const ObjectiveKind kind : testing::all_objective_kinds) {
    StubMeasures here, there;
    there.J = 5.0;
    there.Phi = 0.7;
    Criterion criterion({.objective = kind}, here);
    EXPECT_EQ(criterion.worth(there.J, there.Phi), Criterion({.objective = kind}, there).value());
    // An optimizer's own step is taken for one of its effective rate.
    here.step = StepForecast{0.6, 0.2};
    there.eta = 0.6 / here.J;
    EXPECT_EQ(criterion.worth(there.J, there.Phi), Criterion({.objective = kind}, there).value());
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
  StubMeasures start;  // J = 2, Phi = 3
  const auto objection = [&](const CriterionOptions& options, double J, double Phi, double slack) {
    Criterion criterion(options, start, 0.5);
    criterion.begin();
    KnownPoint candidate(J, Phi, start.eta);
    return criterion.objection(candidate, slack);
  };
  const CriterionOptions norm{.objective = ObjectiveKind::gradient_norm, .bound = 0.2};
  EXPECT_THAT(objection(norm, 2.1, 3.0, 0.0), IsEmpty());
  EXPECT_THAT(objection(norm, 2.0, 3.0, 0.0), HasSubstr("no improvement"));
  EXPECT_THAT(objection(norm, std::nan(""), 3.0, 0.0), HasSubstr("no improvement"));
  EXPECT_THAT(objection(norm, 2.1, 4.3, 0.0), HasSubstr("eta Phi / J"));
  EXPECT_THAT(objection(norm, 2.1, 4.3, 0.1), IsEmpty());
  // At a loss of 0.5 a decrement of at most 1 is believed.
  const CriterionOptions decrement{.objective = ObjectiveKind::decrement};
  EXPECT_THAT(objection(decrement, 2.0, 2.5, 0.0), IsEmpty());
  EXPECT_THAT(objection(decrement, 2.0, 1.5, 0.0), HasSubstr("decrement is 1.3"));
  // From a start without a value anything that has one will do.
  start.Phi = -1.0;
  EXPECT_THAT(objection(decrement, 0.1, 2.5, 0.0), IsEmpty());
  EXPECT_THAT(objection(decrement, 0.1, -2.5, 0.0), HasSubstr("no improvement"));
}

TEST(Criterion, ObjectsToAStepOfTheOptimizerThatIsWorseThanAtTheStart) {
  StubMeasures start;
  start.step = StepForecast{0.6, 0.2};
  Criterion criterion({}, start);
  EXPECT_EQ(criterion.begin(), 0.5);
  KnownPoint better(2.0, 3.0, 0.1, StepForecast{0.7, 0.2});
  KnownPoint worse(9.0, 3.0, 0.1, StepForecast{0.5, 0.2});
  EXPECT_EQ(criterion.objection(better, 0.0), "");
  EXPECT_NE(criterion.objection(worse, 0.0), "");
}

/// Something that is neither J nor Phi.
class Own final : public TeleportObjective {
 public:
  std::string_view name() const override { return "own"; }
  double value(PointMeasures& at) const override { return -at.largest_curvature(); }
  Slope slope(PointMeasures&) const override { return {.covector = Vector::Ones(3)}; }
};

TEST(Criterion, TakesAnObjectiveOfOnesOwn) {
  StubMeasures at;
  const Own own;
  Criterion criterion({.own_objective = &own}, at);
  EXPECT_EQ(criterion.begin(), -4.0);
  EXPECT_EQ(criterion.slope().covector, Vector::Ones(3));
  EXPECT_TRUE(std::isnan(criterion.worth(1.0, 1.0))) << "J and Phi do not tell";
  at.lambda = 1e6;
  EXPECT_TRUE(criterion.allows()) << "no cap unless it asks for one";
}

TEST(ObjectiveKind, HasAName) {
  EXPECT_EQ(to_string(ObjectiveKind::gradient_norm), "gradient_norm");
  EXPECT_EQ(to_string(ObjectiveKind::predicted_decrease), "predicted_decrease");
  EXPECT_EQ(to_string(ObjectiveKind::decrement), "decrement");
  EXPECT_EQ(to_string(ObjectiveKind::sharpness), "sharpness");
  EXPECT_EQ(to_string(ObjectiveKind::weight_norm), "weight_norm");
}

}  // namespace
}  // namespace symport
