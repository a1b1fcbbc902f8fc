// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "symport/training/trace.hpp"

namespace symport::testing {

/// Equal, or both NaN.
inline bool same_number(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

/// A TraceTeleport that is the same in every field.
MATCHER_P(SameTeleport, expected, "is the same teleport") {
  return arg.step == expected.step && arg.epoch == expected.epoch && arg.batch == expected.batch &&
         arg.accepted == expected.accepted && arg.loss_before == expected.loss_before &&
         arg.loss_after == expected.loss_after && arg.before == expected.before &&
         arg.after == expected.after;
}

/// Equal in everything but the time.
inline void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.unit, b.unit);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const TraceRow &x = a.rows[i], &y = b.rows[i];
    EXPECT_EQ(x.step, y.step);
    EXPECT_EQ(x.epoch, y.epoch);
    EXPECT_EQ(x.loss, y.loss);
    EXPECT_EQ(x.grad_sq, y.grad_sq);
    EXPECT_EQ(x.learning_rate, y.learning_rate);
    EXPECT_EQ(x.evaluations, y.evaluations);
    EXPECT_EQ(x.teleported, y.teleported);
    EXPECT_PRED2(same_number, x.valid_loss, y.valid_loss);
    EXPECT_PRED2(same_number, x.valid_accuracy, y.valid_accuracy);
  }
  EXPECT_EQ(a.points, b.points);
  ASSERT_EQ(a.teleports.size(), b.teleports.size());
  for (std::size_t i = 0; i < a.teleports.size(); ++i) {
    EXPECT_THAT(a.teleports[i], SameTeleport(b.teleports[i])) << i;
  }
}

}  // namespace symport::testing
