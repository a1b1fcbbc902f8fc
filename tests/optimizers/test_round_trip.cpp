// SPDX-License-Identifier: MIT
#include "symport/optimizers/round_trip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/networks.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::random_problem;

template <class Scalar>
class RoundTripIn : public ::testing::Test {
 protected:
  static constexpr double allowed =
      std::is_same_v<Scalar, double> ? tolerance::rounding : tolerance::single_precision;
  Random random{4};
  testing::Problem<Scalar> problem = random_problem<Scalar>({12, 20, 9, 5}, "leaky_relu:0.1",
                                                            "cross_entropy:mean", true, 15, random);

  VectorOf<Scalar> direction(const VectorOf<Scalar>& w, VectorOf<Scalar>& memory) const {
    VectorOf<Scalar> u(w.size());
    problem.objective.white_gauge()->white_direction(w, {.damping = 0.1}, memory, u, nullptr);
    return u;
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RoundTripIn, Precisions);

TYPED_TEST(RoundTripIn, TheRuleSeesTheWhiteDirectionInPlaceOfTheGradient) {
  using Scalar = TypeParam;
  const std::vector<std::shared_ptr<const BasicOptimizer<Scalar>>> rules{
      std::make_shared<GradientDescent<Scalar>>(), std::make_shared<Momentum<Scalar>>(),
      std::make_shared<Nesterov<Scalar>>(), std::make_shared<Adam<Scalar>>()};
  for (const auto& rule : rules) {
    const RoundTrip<Scalar> trip(this->problem.objective, rule, {.check_every = 0});
    VectorOf<Scalar> w = this->problem.w, expected = w, pieces = w, gradient(w.size());
    auto state = trip.init(w.size()), other = trip.init(w.size());
    auto plain = rule->init(w.size());
    VectorOf<Scalar> memory = VectorOf<Scalar>::Zero(3);
    for (int t = 0; t < 4; ++t) {
      rule->step(this->problem.objective, 0.0, this->direction(expected, memory), 0.05, plain,
                 expected);
      const double loss = this->problem.objective.gradient(w, gradient);
      trip.step(this->problem.objective, loss, gradient, 0.05, state, w);
      EXPECT_NEAR(trip.minibatch_step(this->problem.objective, 0.05, other, pieces), loss,
                  this->allowed * loss);
    }
    EXPECT_LE((w - expected).norm(), this->allowed * w.norm()) << rule->name();
    EXPECT_LE((pieces - expected).norm(), this->allowed * w.norm()) << rule->name();
    EXPECT_EQ(state.count, plain.count);
    EXPECT_EQ(other.count, plain.count);
    EXPECT_LE((state["gauge"] - memory).norm(), this->allowed * memory.norm()) << rule->name();
    EXPECT_LE((other["gauge"] - memory).norm(), this->allowed * memory.norm()) << rule->name();
  }
}

TYPED_TEST(RoundTripIn, APreviewIsTheStepThatFollows) {
  using Scalar = TypeParam;
  const RoundTrip<Scalar> trip(this->problem.objective, std::make_shared<Momentum<Scalar>>());
  VectorOf<Scalar> w = this->problem.w, u(w.size()), gradient(w.size());
  auto state = trip.init(w.size());
  for (int t = 0; t < 3; ++t) {
    const double loss = this->problem.objective.gradient(w, gradient);
    trip.preview(this->problem.objective, w, gradient, 0.02, state, u);
    VectorOf<Scalar> next = w;
    trip.step(this->problem.objective, loss, gradient, 0.02, state, next);
    EXPECT_LE((w - u - next).norm(), this->allowed * w.norm());
    w = next;
  }
}

// Far too long a theta is found out before the first step, one that becomes too long later on when
// the loss rises. Without checks the same run is lost.
TYPED_TEST(RoundTripIn, AThetaThatIsTooLargeIsShortened) {
  using Scalar = TypeParam;
  for (const double theta : {1.0, 1e2, 1e6}) {
    for (const auto kernel : {GaugeKernel::batch, GaugeKernel::average}) {
      const auto last = [&](Index check_every) {
        const RoundTrip<Scalar> trip(
            this->problem.objective, std::make_shared<GradientDescent<Scalar>>(),
            {.gauge = {.damping = 1e-3, .kernel = kernel}, .check_every = check_every});
        VectorOf<Scalar> w = this->problem.w;
        auto state = trip.init(w.size());
        for (int t = 0; t < 60; ++t) trip.minibatch_step(this->problem.objective, theta, state, w);
        return this->problem.objective.value(w);
      };
      EXPECT_LT(last(32), 0.1 * this->problem.objective.value(this->problem.w)) << theta;
      if (theta < 1e6) continue;
      EXPECT_FALSE(last(0) < this->problem.objective.value(this->problem.w)) << theta;
    }
  }
}

TEST(RoundTrip, ShortensNothingThatWorks) {
  Random random(4);
  const auto problem = random_problem<double>({12, 20, 9, 5}, "leaky_relu:0.1",
                                              "cross_entropy:mean", true, 15, random);
  const RoundTrip<double> checked(problem.objective, std::make_shared<GradientDescent<double>>());
  const RoundTrip<double> unchecked(problem.objective, std::make_shared<GradientDescent<double>>(),
                                    {.check_every = 0});
  Vector a = problem.w, b = problem.w;
  auto state_a = checked.init(a.size()), state_b = unchecked.init(b.size());
  for (int t = 0; t < 40; ++t) {
    checked.minibatch_step(problem.objective, checked.usual_rate(), state_a, a);
    unchecked.minibatch_step(problem.objective, checked.usual_rate(), state_b, b);
  }
  EXPECT_LE((a - b).norm(), tolerance::accumulated * b.norm());
}

TEST(RoundTrip, MeasuresItsStepAlongTheDirection) {
  Random random(4);
  const auto problem = random_problem<double>({12, 20, 9, 5}, "leaky_relu:0.1",
                                              "half_sum_squares:sum", false, 8, random);
  const CountingObjective<double> counting(problem.objective);
  const RoundTrip<double> trip(counting, std::make_shared<CurvatureDescent<double>>());
  EXPECT_TRUE(trip.automatic_rate());
  Vector w = problem.w, gradient(w.size()), u(w.size()), memory = Vector::Zero(3);
  auto state = trip.init(w.size());
  double loss = problem.objective.gradient(w, gradient);
  problem.objective.white_gauge()->white_direction(w, {.damping = 0.1}, memory, u, nullptr);
  const double theta = gradient.dot(u) / problem.objective.curvature(w, u);
  const StepOutcome outcome = trip.step(counting, loss, gradient, 1.0, state, w);
  const double halvings = std::log2(theta / outcome.rate);
  EXPECT_NEAR(halvings, std::round(halvings), 1e-9);
  EXPECT_LE((problem.w - outcome.rate * u - w).norm(), tolerance::rounding * w.norm());
  EXPECT_NEAR(counting.count().gradient_equivalents(), outcome.evaluations, 1e-12);
  for (int t = 0; t < 30; ++t) {
    const double before = loss;
    loss = counting.gradient(w, gradient);
    EXPECT_LE(loss, before);
    trip.step(counting, loss, gradient, 1.0, state, w);
  }
  EXPECT_LT(loss, 1e-3 * problem.objective.value(problem.w));
}

TEST(RoundTrip, HasAThetaForEveryRule) {
  const auto pair = MatrixFactorization::random(6, 5, 3, 1);
  Random random(4);
  const auto problem =
      random_problem<double>({4, 3, 2}, "leaky_relu:0.1", "cross_entropy:mean", true, 5, random);
  const auto rate = [](const Objective& objective, std::shared_ptr<const Optimizer> rule) {
    return RoundTrip<double>(objective, std::move(rule)).usual_rate();
  };
  EXPECT_EQ(rate(problem.objective, std::make_shared<GradientDescent<double>>()), 0.3);
  EXPECT_EQ(rate(problem.objective, std::make_shared<Momentum<double>>()), 0.03);
  EXPECT_EQ(rate(pair, std::make_shared<GradientDescent<double>>()), 0.25);
  EXPECT_EQ(rate(problem.objective, std::make_shared<Adam<double>>()), 1e-3);
  const auto in_full_batches = [&](std::shared_ptr<const Optimizer> rule) {
    return RoundTrip<double>(problem.objective, std::move(rule)).usual_full_batch_rate();
  };
  EXPECT_EQ(in_full_batches(std::make_shared<GradientDescent<double>>()), 0.3);
  EXPECT_EQ(in_full_batches(std::make_shared<Adam<double>>()), 0.03);
}

TEST(RoundTrip, RefusesWhatItCannotDo) {
  Random random(4);
  const auto problem =
      random_problem<double>({4, 3, 2}, "leaky_relu:0.1", "cross_entropy:mean", true, 5, random);
  const auto gd = std::make_shared<GradientDescent<double>>();
  EXPECT_THROW(RoundTrip<double>(Rosenbrock(), gd), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(problem.objective, std::make_shared<Newton<double>>()),
               InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(problem.objective, gd, {.gauge = {.damping = -1.0}}),
               InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(problem.objective, gd, {.check_every = -1}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(problem.objective, gd).init(3), InvalidArgument);
}

}  // namespace
}  // namespace symport
