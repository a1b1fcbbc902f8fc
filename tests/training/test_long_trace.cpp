// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace symport {
namespace {

TEST(Trace, ThinsOutLongRunsButKeepsEndsTeleportsAndPoints) {
  constexpr Index steps = 3 * static_cast<Index>(Trace::max_rows);
  constexpr Index odd_teleport = 12345;
  Trace trace;
  Vector point(1);
  for (Index t = 0; t <= steps; ++t) {
    point[0] = static_cast<double>(t);
    trace.record({.step = t, .teleported = t == odd_teleport}, &point);
  }
  EXPECT_LE(trace.rows.size(), Trace::max_rows + 1);
  EXPECT_GE(trace.rows.size(), Trace::max_rows / 2);
  ASSERT_EQ(trace.points.size(), trace.rows.size());
  EXPECT_EQ(trace.rows.front().step, 0);
  EXPECT_EQ(trace.rows.back().step, steps);
  int teleports = 0;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceRow& row = trace.rows[i];
    if (row.teleported) ++teleports;
    ASSERT_EQ(trace.points[i][0], static_cast<double>(row.step));
    if (i > 0) {
      ASSERT_LT(trace.rows[i - 1].step, row.step);
    }
    ASSERT_TRUE(row.step % trace.stride == 0 || row.teleported || row.step == steps) << row.step;
  }
  EXPECT_EQ(teleports, 1);
}

TEST(Trace, ThinsOutEpochsByTheirOwnNumber) {
  constexpr Index epochs = 2 * static_cast<Index>(Trace::max_rows);
  Trace trace;
  trace.unit = RowUnit::epoch;
  for (Index t = 0; t <= epochs; ++t) trace.record({.step = 15 * t, .epoch = t}, nullptr);
  ASSERT_GT(trace.stride, 1);
  EXPECT_EQ(trace.rows.back().epoch, epochs);
  for (const TraceRow& row : trace.rows) ASSERT_EQ(row.epoch % trace.stride, 0);
}

TEST(Trace, ShortRunsKeepEveryStep) {
  Trace trace;
  for (Index t = 0; t < 1000; ++t) trace.record({.step = t}, nullptr);
  EXPECT_EQ(trace.rows.size(), 1000u);
  EXPECT_TRUE(trace.points.empty());
}

TEST(Trace, CsvWritesNonFiniteNumbersByName) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  Trace trace;
  const Vector point{{-nan, -inf}};
  trace.record({.step = 3, .loss = -nan, .grad_sq = inf, .learning_rate = 0.5}, &point);
  std::ostringstream out;
  write_csv(trace, out);
  EXPECT_EQ(out.str(),
            "step,loss,grad_sq,learning_rate,evaluations,seconds,teleported,x1,x2\n"
            "3,nan,inf,0.5,0,0.000000000,0,nan,-inf\n");
}

}  // namespace
}  // namespace symport
