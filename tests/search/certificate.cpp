// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tolerances.hpp"

namespace symport {
namespace {

constexpr double unit_roundoff = 0x1p-53;
constexpr double allowed = 1e-8;

DriftInput far_from_a_minimum() { return {100.0, 100.0, 50.0, 70.0, 10.0, 20.0, 3.0, 4.0}; }

TEST(Drift, IsTheRelativeChangeFarFromAMinimum) {
  DriftInput in = far_from_a_minimum();
  in.loss_after = 100.0 + 1e-5;
  EXPECT_NEAR(drift(in, unit_roundoff, allowed), 1e-7, 1e-15);
  in.loss_after = 100.0 - 1e-5;
  EXPECT_NEAR(drift(in, unit_roundoff, allowed), 1e-7, 1e-15);
}

TEST(Drift, IsZeroWhenNothingChanged) {
  DriftInput in = far_from_a_minimum();
  EXPECT_EQ(drift(in, unit_roundoff, allowed), 0.0);
  in = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  EXPECT_EQ(drift(in, unit_roundoff, allowed), 0.0);
}

// L = |w - w0|^2 at a distance of 1e-14 from w0 = (1, ..): rounding w alone moves L by as much as L.
TEST(Drift, NearAMinimumMeasuresInUnitsOfTheRoundingOfTheParameters) {
  const double away = 1e-14, loss = away * away, grad_sq = 4.0 * loss, curvature = 2.0 * grad_sq;
  const double rounding =
      unit_roundoff * std::sqrt(grad_sq) + 0.5 * unit_roundoff * unit_roundoff * 2.0;
  DriftInput in{loss, loss + rounding, grad_sq, grad_sq, curvature, curvature, 1.0, 1.0};
  EXPECT_NEAR(drift(in, unit_roundoff, allowed), allowed / 1000.0, 1e-3 * allowed / 1000.0);
  // Twice the loss of the old point would be refused far away; here it is two roundings.
  EXPECT_GT(rounding / loss, 0.01);
  // A change far beyond rounding is still seen.
  in.loss_after = loss + 1e4 * rounding;
  EXPECT_GT(drift(in, unit_roundoff, allowed), allowed);
}

TEST(Drift, TakesTheLargerRoundingOfBothPoints) {
  DriftInput in{1e-30, 2e-30, 1e-28, 1e-20, 1e-28, 1e-20, 1.0, 10.0};
  DriftInput swapped{1e-30, 2e-30, 1e-20, 1e-28, 1e-20, 1e-28, 10.0, 1.0};
  EXPECT_EQ(drift(in, unit_roundoff, allowed), drift(swapped, unit_roundoff, allowed));
  DriftInput smaller = in;
  smaller.grad_sq_after = 1e-28;
  smaller.norm_after = 1.0;
  EXPECT_GT(drift(smaller, unit_roundoff, allowed), drift(in, unit_roundoff, allowed));
}

TEST(Drift, OfANonFiniteLossIsNoNumberThatPasses) {
  DriftInput in = far_from_a_minimum();
  in.loss_after = std::nan("");
  EXPECT_FALSE(drift(in, unit_roundoff, allowed) <= allowed);
  in.loss_after = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(drift(in, unit_roundoff, allowed) <= allowed);
}

TEST(Drift, AcceptsAnInfiniteTolerance) {
  DriftInput in = far_from_a_minimum();
  in.loss_after = 61.0;
  EXPECT_NEAR(drift(in, unit_roundoff, std::numeric_limits<double>::infinity()), 0.39, 1e-12);
}

}  // namespace
}  // namespace symport
