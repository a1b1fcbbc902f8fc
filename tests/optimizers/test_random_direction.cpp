// SPDX-License-Identifier: MIT
#include "symport/optimizers/random_direction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/numbers.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// The first `steps` steps with a gradient that stays the same.
template <Real Scalar>
MatrixOf<Scalar> steps_along(const VectorOf<Scalar>& gradient, double rate, int steps,
                             std::uint64_t seed = 0) {
  const RandomDirection<Scalar> optimizer({.seed = seed});
  OptimizerState<Scalar> state = optimizer.init(gradient.size());
  MatrixOf<Scalar> all(gradient.size(), steps);
  for (int i = 0; i < steps; ++i) {
    VectorOf<Scalar> w = VectorOf<Scalar>::Zero(gradient.size());
    optimizer.advance(gradient, rate, state, w);
    ++state.count;
    all.col(i) = -w;
  }
  return all;
}

TEST(RandomDirection, StepsAsFarAsGradientDescent) {
  const Vector g{{3.0, -1.0, 2.0, 0.5}};
  const Matrix steps = steps_along<double>(g, 0.2, 20);
  for (Index i = 0; i < steps.cols(); ++i) {
    EXPECT_LE(distance(steps.col(i).norm(), 0.2 * g.norm()), tolerance::rounding);
  }
  EXPECT_TRUE(steps_along<double>(Vector::Zero(4), 0.2, 3).isZero(0.0));
}

// Of a direction that is uniform on the sphere: E u = 0, E uu' = I/n, and E (u'g)^2 = |g|^2/n.
TEST(RandomDirection, KnowsNothingOfTheGradient) {
  constexpr int draws = 20000;
  const Vector g{{3.0, -1.0, 2.0, 0.5}};
  const Matrix U = steps_along<double>(g, 1.0 / g.norm(), draws);
  const double noise = 5.0 / std::sqrt(static_cast<double>(draws));
  EXPECT_LE(U.rowwise().mean().cwiseAbs().maxCoeff(), noise);
  const Matrix moments = U * U.transpose() / draws;
  EXPECT_LE((moments - 0.25 * Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), noise);
}

TEST(RandomDirection, IsAFunctionOfSeedAndStep) {
  const Vector g{{3.0, -1.0, 2.0, 0.5}};
  const Matrix once = steps_along<double>(g, 0.2, 5), again = steps_along<double>(g, 0.2, 5);
  EXPECT_EQ(once, again);
  EXPECT_GT((once.col(0) - once.col(1)).norm(), 0.01);
  EXPECT_GT((once - steps_along<double>(g, 0.2, 5, 1)).norm(), 0.01);
  const auto in_float = steps_along<float>(g.cast<float>(), 0.2, 5);
  EXPECT_LE((once - in_float.cast<double>()).norm(), tolerance::single_precision);
}

}  // namespace
}  // namespace symport
