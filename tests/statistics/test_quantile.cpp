// SPDX-License-Identifier: MIT
#include "symport/statistics/quantile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace symport {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// As NumPy's percentile and R's type 7.
TEST(Quantile, LiesOnTheLineBetweenTwoValues) {
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.0), 1.0);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1.0), 4.0);
  EXPECT_EQ(median({5, 1, 9}), 5.0);
  EXPECT_EQ(median({7}), 7.0);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40, 50}, 0.9), 45.0);
}

TEST(Quantile, KeepsInfinitiesInOrder) {
  EXPECT_EQ(median({1, inf, 2}), 2.0);
  EXPECT_EQ(median({1, inf}), inf);
  EXPECT_EQ(median({inf, inf}), inf);
  EXPECT_EQ(median({-inf, 1}), -inf);
  EXPECT_EQ(quantile({1, 2, inf}, 0.5), 2.0);
}

TEST(Quantile, OfNothingOrNoNumberIsNone) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median({1, std::nan(""), 2})));
}

}  // namespace
}  // namespace symport
