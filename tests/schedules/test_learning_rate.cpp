// SPDX-License-Identifier: MIT
#include "symport/schedules/learning_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/refusal.hpp"

namespace symport {
namespace {

TEST(LearningRate, OfANumberIsConstant) {
  const LearningRate rate = 0.25;
  for (const Index t : {0, 1, 1000000}) EXPECT_EQ(rate.at(t), 0.25);
  EXPECT_EQ(rate.initial(), 0.25);
}

TEST(LearningRate, StepsDownAfterEveryPeriod) {
  const auto rate = LearningRate::parse("step:0.8,0.5,30");
  EXPECT_EQ(rate.at(0), 0.8);
  EXPECT_EQ(rate.at(29), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(30), 0.4);
  EXPECT_DOUBLE_EQ(rate.at(59), 0.4);
  EXPECT_DOUBLE_EQ(rate.at(90), 0.1);
}

TEST(LearningRate, FollowsHalfACosineToZero) {
  const auto rate = LearningRate::parse("cosine:0.1,100");
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_NEAR(rate.at(50), 0.05, 1e-16);
  EXPECT_EQ(rate.at(100), 0.0);
  EXPECT_EQ(rate.at(1000), 0.0);
  for (Index t = 1; t <= 100; ++t) EXPECT_LT(rate.at(t), rate.at(t - 1));
}

TEST(LearningRate, ALineFallsEvenlyWithinAStepToo) {
  const auto rate = LearningRate::parse("linear:0.8,4");
  EXPECT_EQ(rate.at(0), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(0.5), 0.7);
  EXPECT_DOUBLE_EQ(rate.at(3), 0.2);
  EXPECT_EQ(rate.at(4), 0.0);
  EXPECT_EQ(rate.at(4.5), 0.0);
  EXPECT_EQ(LearningRate::step(0.8, 0.5, 2).at(1.9), 0.8) << "a step waits for its time";
}

TEST(LearningRate, PrintsWhatParseReadsBack) {
  for (const char* text :
       {"0.1", "0.001", "1e-05", "step:0.1,0.5,30", "cosine:0.1,100", "linear:0.1,100"}) {
    EXPECT_EQ(LearningRate::parse(text).to_string(), text);
  }
  const auto odd = LearningRate(1.0 / 3.0);
  EXPECT_EQ(LearningRate::parse(odd.to_string()).at(0), 1.0 / 3.0);
}

TEST(LearningRate, RefusesBadInputByField) {
  for (const char* text : {"",
                           "abc",
                           "0",
                           "-1",
                           "nan",
                           "inf",
                           "0.1x",
                           "0.1,",
                           "1,2",
                           " 0.1",
                           "step:0.1,0.5",
                           "step:0.1,0.5,30,1",
                           "step:0,0.5,30",
                           "step:0.1,0,30",
                           "step:0.1,2,30",
                           "step:0.1,0.5,0",
                           "step:0.1,0.5,1.5",
                           "step:0.1,0.5,-3",
                           "step:0.1,nan,30",
                           "cosine:0.1",
                           "linear:0.1",
                           "linear:0.1,0",
                           "cosine:0.1,0",
                           "cosine:-0.1,10",
                           "cosine:0.1,1e300",
                           "line:0.1,10",
                           "0x10"}) {
    try {
      LearningRate::parse(text);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field().substr(0, 13), "learning_rate") << text;
    }
  }
  EXPECT_THROW(LearningRate(0.0), InvalidArgument);
  EXPECT_THROW(LearningRate{std::numeric_limits<double>::infinity()}, InvalidArgument);
}

TEST(LearningRate, RefusesPeriodsBelowOne) {
  for (const Index period : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()}) {
    const std::string expected = "learning_rate period: found " + std::to_string(period) +
                                 ", allowed is a whole number >= 1";
    EXPECT_EQ(test::refusal([=] { LearningRate::step(0.1, 0.5, period); }), expected);
    EXPECT_EQ(test::refusal([=] { LearningRate::cosine(0.1, period); }), expected);
    EXPECT_EQ(test::refusal([=] { LearningRate::linear(0.1, period); }), expected);
  }
  const auto halving = LearningRate::step(0.8, 0.5, 1);
  for (Index t = 0; t < 5; ++t) EXPECT_EQ(halving.at(t), std::ldexp(0.8, -static_cast<int>(t)));
  const auto stopping = LearningRate::cosine(0.8, 1);
  EXPECT_EQ(stopping.at(0), 0.8);
  EXPECT_EQ(stopping.at(1), 0.0);
}

}  // namespace
}  // namespace symport
