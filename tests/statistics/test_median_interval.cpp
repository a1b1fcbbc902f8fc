// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
#include "symport/statistics/median_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {
namespace {

std::vector<Bounds> known(const std::vector<double>& values) {
  std::vector<Bounds> sample;
  for (const double value : values) sample.push_back({value, value});
  return sample;
}

std::vector<Bounds> one_to(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return known(values);
}

// Tables of the sign test: n = 6: [x1, x6] covers 1 - 2/64; n = 10: [x2, x9] covers
// 1 - 2 (1 + 10)/1024; n = 20: [x6, x15] covers 1 - 2 (1 + 20 + 190 + 1140 + 4845 + 15504)/2^20.
TEST(MedianInterval, HasTheOrderStatisticsOfTheTables) {
  const MedianInterval six = median_interval(one_to(6));
  EXPECT_EQ(six.interval, (Bounds{1, 6}));
  EXPECT_NEAR(six.coverage, 1.0 - 2.0 / 64.0, 1e-12);
  EXPECT_EQ(six.median, (Bounds{3.5, 3.5}));
  const MedianInterval ten = median_interval(one_to(10));
  EXPECT_EQ(ten.interval, (Bounds{2, 9}));
  EXPECT_NEAR(ten.coverage, 1.0 - 22.0 / 1024.0, 1e-12);
  const MedianInterval twenty = median_interval(one_to(20));
  EXPECT_EQ(twenty.interval, (Bounds{6, 15}));
  EXPECT_NEAR(twenty.coverage, 1.0 - 2.0 * (1 + 20 + 190 + 1140 + 4845 + 15504) / 1048576.0, 1e-12);
  EXPECT_EQ(median_interval(one_to(20), 0.99).interval, (Bounds{4, 17}));
}

TEST(MedianInterval, IsTheWholeLineWhenThereAreTooFew) {
  for (int n = 1; n <= 5; ++n) {
    const MedianInterval few = median_interval(one_to(n));
    EXPECT_EQ(few.interval, (Bounds{-infinity, infinity})) << n;
    EXPECT_EQ(few.coverage, 1.0);
    EXPECT_EQ(few.median.low, (n + 1) / 2.0);
  }
}

TEST(MedianInterval, UsesLowerBoundsBelowAndUpperBoundsAbove) {
  std::vector<Bounds> sample = one_to(10);
  for (Bounds& bounds : sample) {
    if (bounds.low > 7) bounds = {7, infinity};  // three that were not reached
  }
  const MedianInterval result = median_interval(sample);
  EXPECT_EQ(result.interval, (Bounds{2, infinity}));
  EXPECT_EQ(result.median, (Bounds{5.5, 5.5})) << "the middle is known all the same";
  // With half of them open the median is known from below only.
  for (Bounds& bounds : sample) {
    if (bounds.low > 5) bounds = {5, infinity};
  }
  EXPECT_EQ(median_interval(sample).median, (Bounds{5, infinity}));
}

/// The promise itself, on a skewed distribution whose median is known: exp(0) of a log-normal.
TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  Random random(1);
  constexpr int samples = 4000;
  int held = 0;
  double coverage = 0.0;
  for (int i = 0; i < samples; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 12; ++k) values.push_back(std::exp(2.0 * random.normal()));
    const MedianInterval result = median_interval(known(values));
    held += result.interval.low <= 1.0 && 1.0 <= result.interval.high ? 1 : 0;
    coverage = result.coverage;
  }
  // n = 12: k = 3, coverage 1 - 2 (1 + 12 + 66)/4096.
  EXPECT_NEAR(coverage, 1.0 - 158.0 / 4096.0, 1e-12);
  const double deviation = std::sqrt(coverage * (1.0 - coverage) / samples);
  EXPECT_NEAR(static_cast<double>(held) / samples, coverage, 4.0 * deviation);
}

TEST(PairedRatio, IsTheMedianOfTheRatiosAndTurnsAround) {
  const std::vector<double> a{10, 20, 40, 80, 90, 70, 60}, b{5, 5, 5, 20, 10, 10, 30};
  const MedianInterval ratio = paired_ratio(known(a), known(b));
  EXPECT_NEAR(ratio.median.low, 4.0, 1e-12);  // 2 2 4 4 7 8 9
  EXPECT_EQ(ratio.median.low, ratio.median.high);
  EXPECT_NEAR(ratio.interval.low, 2.0, 1e-12);
  EXPECT_NEAR(ratio.interval.high, 9.0, 1e-12);
  const MedianInterval turned = paired_ratio(known(b), known(a));
  EXPECT_NEAR(turned.median.low, 1.0 / 4.0, 1e-12);
  EXPECT_NEAR(turned.interval.low, 1.0 / 9.0, 1e-12);
  EXPECT_NEAR(turned.interval.high, 1.0 / 2.0, 1e-12);
}

TEST(PairedRatio, CensoredCostsBoundTheRatio) {
  const Bounds open{100, infinity};
  // The baseline never gets there, the method does at 10: at least 10 times faster.
  const std::vector<Bounds> never(8, open), ten(8, Bounds{10, 10});
  const MedianInterval faster = paired_ratio(never, ten);
  EXPECT_NEAR(faster.interval.low, 10.0, 1e-12);
  EXPECT_EQ(faster.interval.high, infinity);
  const MedianInterval slower = paired_ratio(ten, never);
  EXPECT_EQ(slower.interval.low, 0.0);
  EXPECT_NEAR(slower.interval.high, 0.1, 1e-12);
  // Both open: nothing is known.
  const MedianInterval unknown = paired_ratio(never, never);
  EXPECT_EQ(unknown.interval, (Bounds{0.0, infinity}));
  EXPECT_EQ(unknown.median, (Bounds{0.0, infinity}));
}

TEST(MedianInterval, RefusesWhatIsNoSample) {
  EXPECT_THROW(median_interval({}), InvalidArgument);
  EXPECT_THROW(median_interval({{2, 1}}), InvalidArgument);
  EXPECT_THROW(median_interval({{std::nan(""), 1}}), InvalidArgument);
  for (const double confidence : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_THROW(median_interval({{1, 1}}, confidence), InvalidArgument) << confidence;
  }
  EXPECT_THROW(paired_ratio({{1, 1}}, {}), InvalidArgument);
  EXPECT_THROW(paired_ratio({{0, 1}}, {{1, 1}}), InvalidArgument);
  EXPECT_THROW(paired_ratio({{1, 1}}, {{infinity, infinity}}), InvalidArgument);
}

}  // namespace
}  // namespace symport
