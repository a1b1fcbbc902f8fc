// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/objectives.hpp"
#include "support/single_precision.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

constexpr double half_digit = 0x1p-53;
constexpr double allowed = 1e-8;

TEST(Drift, IsTheRelativeChangeFarFromAMinimum) {
  EXPECT_NEAR(drift(100.0, 100.0 + 1e-5, 1e-14, allowed), 1e-7, 1e-15);
  EXPECT_NEAR(drift(100.0, 100.0 - 1e-5, 1e-14, allowed), 1e-7, 1e-15);
}

TEST(Drift, IsZeroWhenNothingChanged) {
  EXPECT_EQ(drift(100.0, 100.0, 1.0, allowed), 0.0);
  EXPECT_EQ(drift(0.0, 0.0, 0.0, allowed), 0.0);
}

TEST(Drift, NearAMinimumMeasuresInUnitsOfTheRounding) {
  EXPECT_NEAR(drift(1e-28, 1e-28 + 1e-29, 1e-29, allowed), allowed / 1000.0,
              1e-3 * allowed / 1000.0);
  // A change far beyond rounding is still seen.
  EXPECT_GT(drift(1e-28, 1e-28 + 1e4 * 1e-29, 1e-29, allowed), allowed);
}

TEST(Drift, OfANonFiniteLossIsNoNumberThatPasses) {
  EXPECT_FALSE(drift(100.0, std::nan(""), 0.0, allowed) <= allowed);
  EXPECT_FALSE(drift(100.0, std::numeric_limits<double>::infinity(), 0.0, allowed) <= allowed);
}

TEST(Drift, OfALossOfZeroIsMeasuredByTheRounding) {
  EXPECT_NEAR(drift(0.0, 1e-29, 1e-29, allowed), allowed / 1000.0, 1e-3 * allowed / 1000.0);
  EXPECT_FALSE(drift(0.0, 1e-29, 0.0, allowed) <= allowed);
}

TEST(Drift, IsNotExcusedByARoundingThatIsNoNumber) {
  for (const double rounding : {std::numeric_limits<double>::infinity(), std::nan(""), 1e307}) {
    EXPECT_EQ(drift(100.0, 61.0, rounding, allowed), 0.39) << rounding;
  }
}

TEST(Certificate, SaysWhenTheRoundingOfTheStartWasItsMeasure) {
  Certificate c;
  c.loss_before = 4.0;
  c.loss_after = 3.0;
  c.drift = drift(c.loss_before, c.loss_after, 1e-15, allowed);
  EXPECT_EQ(c.relative_change(), 0.25);
  EXPECT_FALSE(c.at_rounding_level());
  c.drift = drift(c.loss_before, c.loss_after, 1.0, allowed);
  EXPECT_TRUE(c.at_rounding_level());
  c.loss_before = 0.0;
  EXPECT_EQ(c.relative_change(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(c.at_rounding_level());
  EXPECT_EQ(Certificate{}.relative_change(), 0.0);
  EXPECT_FALSE(Certificate{}.at_rounding_level());
  c.loss_after = std::nan("");
  EXPECT_FALSE(c.at_rounding_level());
}

TEST(Drift, AcceptsAnInfiniteTolerance) {
  EXPECT_NEAR(drift(100.0, 61.0, 1e-14, std::numeric_limits<double>::infinity()), 0.39, 1e-12);
}

// L = (x - 1)^2 + (y - 1)^2 at (1 + 1e-14, 1): by hand, r = 2e-14 u (1 + 1e-14) + u^2 |d|^2.
TEST(LossRounding, IsTheFirstAndTheSecondOrder) {
  const auto bowl =
      testing::generic(2, [](const auto& x) { return pow(x[0] - 1.0, 2) + pow(x[1] - 1.0, 2); });
  const double away = Vector{{1.0 + 1e-14, 1.0}}[0] - 1.0;
  const double expected = 2.0 * away * half_digit + 2.0 * half_digit * half_digit;
  EXPECT_NEAR(loss_rounding<double>(*bowl, Vector{{1.0 + 1e-14, 1.0}}), expected, 1e-10 * expected);
}

TEST(LossRounding, TakesAGradientThatIsThere) {
  const auto bowl =
      testing::generic(2, [](const auto& x) { return pow(x[0] - 1.0, 2) + pow(x[1] - 3.0, 2); });
  const Vector w{{2.0, 1.0}}, gradient{{2.0, -4.0}};
  EXPECT_EQ(loss_rounding<double>(*bowl, w), loss_rounding<double>(*bowl, w, gradient));
  EXPECT_EQ(first_order_rounding<double>(w, gradient), 8.0 * half_digit);
}

// At the bottom of a valley along (1, 1) rounding moves the loss most across it, wherever the
// gradient's last digits point.
TEST(LossRounding, SeesAcrossAValleyWhicheverWayTheGradientPoints) {
  const auto valley =
      testing::generic(2, [](const auto& x) { return 1e6 * pow(x[0] - x[1], 2) + pow(x[0], 2); });
  const double across = 0.5 * half_digit * half_digit * 8e6;
  for (const Vector& gradient : {Vector{{1e-30, 1e-30}}, Vector{{1e-30, -1e-30}}}) {
    EXPECT_NEAR(loss_rounding<double>(*valley, Vector{{1.0, 1.0}}, gradient), across,
                1e-3 * across);
  }
}

// x y = 1 with x = 1e6 and y = 1e-6: each alone moves the loss by a rounding of it, though the
// product of the norms is 1e12.
TEST(LossRounding, DoesNotMixLargeParametersWithOthersGradients) {
  const auto product = testing::generic(2, [](const auto& x) { return x[0] * x[1]; });
  const double r = loss_rounding<double>(*product, Vector{{1e6, 1e-6}});
  EXPECT_NEAR(r, 2.0 * half_digit, 1e-6 * half_digit);
  const testing::SinglePrecision in_float(*product);
  const double r_float = loss_rounding<float>(in_float, VectorOf<float>{{1e6f, 1e-6f}});
  EXPECT_NEAR(r_float, 2.0 * 0x1p-24, 1e-5 * 0x1p-24);
}

}  // namespace
}  // namespace symport
