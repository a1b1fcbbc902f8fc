// SPDX-License-Identifier: MIT
// Metric round trips as an optimizer: the rule inside, the checks of theta, the measured step. What
// u is: test_metric_direction.cpp.
#include "symport/optimizers/metric_round_trip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/metric_steps.hpp"
#include "support/networks.hpp"
#include "support/one_step.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::direction_at;
using testing::one_step;
using testing::random_problem;

template <Real Scalar>
testing::Problem<Scalar> small_problem(Index samples = 15) {
  Random random(4);
  return random_problem<Scalar>({12, 20, 9, 5}, "leaky_relu:0.1", "cross_entropy:mean", true,
                                samples, random);
}

template <Real Scalar>
std::vector<std::shared_ptr<const FirstOrderOptimizer<Scalar>>> linear_rules() {
  return {std::make_shared<GradientDescent<Scalar>>(), std::make_shared<Momentum<Scalar>>(),
          std::make_shared<Nesterov<Scalar>>()};
}

template <class Scalar>
class MetricRoundTripIn : public ::testing::Test {
 protected:
  static constexpr double allowed =
      std::is_same_v<Scalar, double> ? tolerance::rounding : tolerance::single_precision;
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MetricRoundTripIn, Precisions);

// Fewer samples than inputs and more: by samples and by inputs, with and without the gradient.
TYPED_TEST(MetricRoundTripIn, TheRuleSeesTheDirectionInPlaceOfTheGradient) {
  using Scalar = TypeParam;
  for (const Index samples : {15, 40}) {
    const auto problem = small_problem<Scalar>(samples);
    for (const auto& rule : linear_rules<Scalar>()) {
      const MetricRoundTrip<Scalar> trip(rule, {.check_every = 0});
      VectorOf<Scalar> w = problem.w, expected = w, pieces = w, gradient(w.size());
      auto state = trip.init(w.size()), other = trip.init(w.size());
      auto plain = rule->init(w.size());
      for (int t = 0; t < 4; ++t) {
        const VectorOf<Scalar> u = direction_at<Scalar>(problem.objective, expected);
        one_step(*rule, problem.objective, 0.0, u, 0.05, plain, expected);
        const double loss = problem.objective.gradient(w, gradient);
        one_step(trip, problem.objective, loss, gradient, 0.05, state, w);
        EXPECT_NEAR(trip.minibatch_step(problem.objective, 0.05, other, pieces), loss,
                    this->allowed * loss);
      }
      EXPECT_LE((w - expected).norm(), this->allowed * w.norm()) << rule->name();
      EXPECT_LE((pieces - expected).norm(), this->allowed * w.norm()) << rule->name();
      EXPECT_EQ(state.count, 4);
      EXPECT_EQ(other.count, 4);
    }
  }
}

TYPED_TEST(MetricRoundTripIn, APreviewIsTheStepThatFollows) {
  using Scalar = TypeParam;
  const auto problem = small_problem<Scalar>();
  const MetricRoundTrip<Scalar> trip(std::make_shared<Momentum<Scalar>>());
  VectorOf<Scalar> w = problem.w, u(w.size()), gradient(w.size());
  auto state = trip.init(w.size());
  for (int t = 0; t < 3; ++t) {
    const double loss = problem.objective.gradient(w, gradient);
    trip.preview(problem.objective, w, gradient, 0.02, state, u);
    VectorOf<Scalar> next = w;
    one_step(trip, problem.objective, loss, gradient, 0.02, state, next);
    EXPECT_LE((w - u - next).norm(), this->allowed * w.norm());
    w = next;
  }
}

// Far too long a theta is found out before the first step, one that becomes too long later on when
// the loss rises. Without checks the same run is lost.
TYPED_TEST(MetricRoundTripIn, AThetaThatIsTooLargeIsShortened) {
  using Scalar = TypeParam;
  const auto problem = small_problem<Scalar>();
  for (const double theta : {1.0, 1e2, 1e6}) {
    const auto last = [&](Index check_every) {
      const MetricRoundTrip<Scalar> trip(std::make_shared<GradientDescent<Scalar>>(),
                                         {.damping = 1e-3, .check_every = check_every});
      VectorOf<Scalar> w = problem.w;
      auto state = trip.init(w.size());
      for (int t = 0; t < 60; ++t) trip.minibatch_step(problem.objective, theta, state, w);
      return problem.objective.value(w);
    };
    EXPECT_LT(last(32), 0.1 * problem.objective.value(problem.w)) << theta;
    if (theta < 1e6) continue;
    EXPECT_FALSE(last(0) < problem.objective.value(problem.w)) << theta;
  }
}

TEST(MetricRoundTrip, ShortensNothingThatWorks) {
  const auto problem = small_problem<double>();
  const MetricRoundTrip<double> checked(std::make_shared<GradientDescent<double>>());
  const auto unchecked = testing::unchecked_trip<double>();
  Vector a = problem.w, b = problem.w;
  auto state_a = checked.init(a.size()), state_b = unchecked.init(b.size());
  for (int t = 0; t < 40; ++t) {
    checked.minibatch_step(problem.objective, 0.3, state_a, a);
    unchecked.minibatch_step(problem.objective, 0.3, state_b, b);
  }
  EXPECT_LE((a - b).norm(), tolerance::accumulated * b.norm());
}

// Inputs so small that a step for one batch is far too long for the next: the loss would rise by
// orders of magnitude.
TEST(MetricRoundTrip, GoesBackWhereSmallBatchesRaiseTheLossOfAllOthers) {
  Random random(3);
  for (const double unit : {1e-3, 1e-6}) {
    const Matrix X = unit * random.normal_matrix(20, 60), Y = random.normal_matrix(2, 60);
    const Mlp network({20, 32, 2}, Activation::parse("relu"), true);
    const MlpObjective<double> all(network, Loss::parse("mean_squares:mean"), X,
                                   Targets<double>(Y));
    const Vector start = initialize<double>(network, Initialization::fan_in, random);
    const auto worst = [&](const MetricRoundTrip<double>& trip) {
      Vector w = start;
      auto state = trip.init(w.size());
      double highest = 0.0;
      for (Index t = 0; t < 300; ++t) {
        std::vector<Index> samples;
        for (Index i = 0; i < 5; ++i) samples.push_back((7 * t + 11 * i + t / 12) % 60);
        const auto batch = all.subset(samples);
        trip.minibatch_step(batch, 0.3, state, w);
        if (t % 10 == 9) highest = std::max(highest, all.value(w));
      }
      return highest;
    };
    const double first = all.value(start);
    EXPECT_LE(worst(MetricRoundTrip<double>(std::make_shared<GradientDescent<double>>())),
              4.0 * first)
        << unit;
  }
}

TEST(MetricRoundTrip, MeasuresItsStepAlongTheDirection) {
  Random random(4);
  const auto problem = random_problem<double>({12, 20, 9, 5}, "leaky_relu:0.1",
                                              "half_sum_squares:sum", false, 8, random);
  const CountingObjective<double> counting(problem.objective);
  const MetricRoundTrip<double> trip(std::make_shared<CurvatureDescent<double>>());
  EXPECT_TRUE(trip.automatic_rate());
  Vector w = problem.w;
  auto state = trip.init(w.size());
  MeasuredPoint<double> here;
  trip.measure(counting, w, here);
  const Vector u = direction_at<double>(problem.objective, w);
  const double theta = here.gradient.dot(u) / problem.objective.curvature(w, u);
  const StepOutcome outcome = trip.step(counting, here, 1.0, state, w);
  const double halvings = std::log2(theta / outcome.rate);
  EXPECT_NEAR(halvings, std::round(halvings), 1e-9);
  EXPECT_LE((problem.w - outcome.rate * u - w).norm(), tolerance::rounding * w.norm());
  EXPECT_NEAR(counting.count().gradient_equivalents(), 1.0 + outcome.evaluations, 1e-12);
  double loss = here.loss;
  for (int t = 0; t < 30; ++t) {
    const double before = loss;
    trip.measure(counting, w, here);
    loss = here.loss;
    EXPECT_LE(loss, before);
    trip.step(counting, here, 1.0, state, w);
  }
  EXPECT_LT(loss, 1e-3 * problem.objective.value(problem.w));
}

TEST(MetricRoundTrip, HasAThetaForEveryRule) {
  const auto pair = MatrixFactorization::random(6, 5, 3, 1);
  const auto problem = small_problem<double>();
  const MetricRoundTrip<double> gd(std::make_shared<GradientDescent<double>>());
  EXPECT_EQ(gd.usual_rate(problem.objective), 0.3);
  EXPECT_EQ(gd.usual_rate(pair), 0.25);
  EXPECT_EQ(gd.damping(problem.objective), 0.1);
  EXPECT_EQ(gd.damping(pair), 1e-3);
  const MetricRoundTrip<double> momentum(std::make_shared<Momentum<double>>());
  EXPECT_EQ(momentum.usual_rate(problem.objective), 0.03);
}

TEST(MetricRoundTrip, RefusesWhatItCannotDo) {
  const auto gd = std::make_shared<GradientDescent<double>>();
  EXPECT_THROW(MetricRoundTrip<double>(std::make_shared<Adam<double>>()), InvalidArgument);
  EXPECT_THROW(MetricRoundTrip<double>(gd, {.damping = -1.0}), InvalidArgument);
  EXPECT_THROW(MetricRoundTrip<double>(gd, {.damping = std::nan("")}), InvalidArgument);
  EXPECT_THROW(MetricRoundTrip<double>(gd, {.check_every = -1}), InvalidArgument);
  EXPECT_THROW(MetricRoundTrip<double>(gd).require_fit(Rosenbrock()), InvalidArgument);
  MetricRoundTrip<double>(gd).require_fit(small_problem<double>().objective);
  MetricRoundTrip<double>(gd).require_fit(MatrixFactorization::random(6, 5, 3, 1));
}

}  // namespace
}  // namespace symport
