// SPDX-License-Identifier: MIT
#include "symport/objectives/counting.hpp"

#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "symport/objectives/rosenbrock.hpp"

namespace symport {
namespace {

TEST(CountingObjective, PassesTheAnswersOnAndCountsTheCalls) {
  const Rosenbrock inner;
  CountingObjective<double> counting(inner);
  const Vector w = inner.start(), v{{0.3, -0.2}};
  Vector a(2), b(2);
  EXPECT_EQ(counting.dimension(), 2);
  EXPECT_EQ(counting.value(w), inner.value(w));
  EXPECT_EQ(counting.gradient(w, a), inner.gradient(w, b));
  EXPECT_EQ(a, b);
  counting.hessian_vector(w, v, a);
  inner.hessian_vector(w, v, b);
  EXPECT_EQ(a, b);
  counting.third_derivative(w, v, a);
  inner.third_derivative(w, v, b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(counting.curvature(w, v), inner.curvature(w, v));
  counting.value(w);
  EXPECT_EQ(counting.count().values, 2);
  EXPECT_EQ(counting.count().gradients, 1);
  EXPECT_EQ(counting.count().hessian_vectors, 1);
  EXPECT_EQ(counting.count().third_derivatives, 1);
  EXPECT_EQ(counting.count().curvatures, 1);
  EXPECT_EQ(counting.count().gradient_equivalents(), 2 * 0.5 + 1 + 2 + 4 + 2);
  counting.reset();
  EXPECT_EQ(counting.count().gradient_equivalents(), 0.0);
}

/// What a local curvature says is the inner objective's, its cost is counted.
template <Real Scalar>
void expect_the_same_curvature(const BasicObjective<Scalar>& inner, In<Scalar> w) {
  const CountingObjective<Scalar> counting(inner);
  const auto expected = inner.local_curvature(w, {}), counted = counting.local_curvature(w, {});
  EXPECT_EQ(counting.count().gradient_equivalents(), expected->evaluations());
  EXPECT_EQ(counted->next_loss(1e-2), expected->next_loss(1e-2));
  EXPECT_EQ(counted->largest_eigenvalue(), expected->largest_eigenvalue());
  EXPECT_EQ(counted->largest_eigenvalue(), expected->largest_eigenvalue());
  EXPECT_GT(expected->evaluations(), 1.0);
  EXPECT_EQ(counted->evaluations(), expected->evaluations());
  EXPECT_EQ(counting.count().gradient_equivalents(), expected->evaluations());
}

TEST(CountingObjective, CountsWhatALocalCurvatureCosts) {
  const Rosenbrock rosenbrock;
  expect_the_same_curvature<double>(rosenbrock, rosenbrock.start());
  Random random(5);
  // A small batch, for which networks have a way of their own, and a large one.
  for (const Index samples : {3, 40}) {
    const auto problem = testing::random_problem<float>({14, 12, 11, 5}, "leaky_relu",
                                                        "cross_entropy", true, samples, random);
    expect_the_same_curvature<float>(problem.objective, problem.w);
  }
}

TEST(CountingObjective, KnowsTheNetworkThatItCountsFor) {
  Random random(6);
  const auto problem =
      testing::random_problem<double>({3, 4, 2}, "relu", "cross_entropy", true, 5, random);
  const CountingObjective<double> counting(problem.objective);
  const Objective& once = counting;  // or the copy constructor would be meant
  const CountingObjective<double> twice(once);
  EXPECT_EQ(twice.mlp(), &problem.objective);
  EXPECT_EQ(CountingObjective<double>(Rosenbrock()).mlp(), nullptr);
  twice.note_work(2.5);
  EXPECT_EQ(twice.count().gradient_equivalents(), 2.5);
  EXPECT_EQ(counting.count().gradient_equivalents(), 2.5) << "whoever else counts hears of it";
}

}  // namespace
}  // namespace symport
