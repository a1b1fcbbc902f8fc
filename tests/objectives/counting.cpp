// SPDX-License-Identifier: MIT
#include "symport/objectives/counting.hpp"

#include <gtest/gtest.h>

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
  counting.value(w);
  EXPECT_EQ(counting.count().values, 2);
  EXPECT_EQ(counting.count().gradients, 1);
  EXPECT_EQ(counting.count().hessian_vectors, 1);
  EXPECT_EQ(counting.count().third_derivatives, 1);
  EXPECT_EQ(counting.count().gradient_equivalents(), 2 * 0.5 + 1 + 2 + 4);
  counting.reset();
  EXPECT_EQ(counting.count().gradient_equivalents(), 0.0);
}

}  // namespace
}  // namespace symport
