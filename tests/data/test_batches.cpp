// SPDX-License-Identifier: MIT
#include "symport/data/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

TEST(Batches, OrderIsAFunctionOfSeedAndEpoch) {
  const Batches batches(100, 20, 5), again(100, 7, 5), other(100, 20, 6);
  const std::vector<Index> third = batches.order(3);
  EXPECT_EQ(third, again.order(3));
  EXPECT_NE(third, batches.order(4));
  EXPECT_NE(third, other.order(3));
}

TEST(Batches, AnEpochHasEverySampleOnce) {
  for (const Index size : {1, 3, 10, 11, 50}) {
    const Batches batches(11, size, 1);
    const std::vector<Index> order = batches.order(0);
    std::vector<Index> all;
    for (Index b = 0; b < batches.count(); ++b) {
      const auto batch = batches.batch(order, b);
      EXPECT_LE(static_cast<Index>(batch.size()), size);
      EXPECT_FALSE(batch.empty());
      all.insert(all.end(), batch.begin(), batch.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<Index> expected(11);
    std::iota(expected.begin(), expected.end(), Index{0});
    EXPECT_EQ(all, expected) << "batch size " << size;
  }
}

TEST(Batches, EveryOrderIsEquallyLikely) {
  std::map<std::vector<Index>, int> seen;
  const Batches batches(3, 1, 9);
  for (Index epoch = 0; epoch < 6000; ++epoch) ++seen[batches.order(epoch)];
  ASSERT_EQ(seen.size(), 6U);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 150);
}

TEST(Batches, ABatchOfAnotherSizeBeginsAtTheSameSample) {
  const Batches batches(50, 10, 2);
  const std::vector<Index> order = batches.order(1);
  const auto large = batches.batch(order, 2, 25), cut = batches.batch(order, 3, 25);
  EXPECT_EQ(large.size(), 25U);
  EXPECT_EQ(large.front(), batches.batch(order, 2).front());
  EXPECT_EQ(cut.size(), 20U) << "the order ends there";
  EXPECT_THROW(batches.batch(order, 5), std::logic_error);
  EXPECT_THROW(batches.batch(order, -1), std::logic_error);
}

TEST(Batches, KeepToTheGivenSamples) {
  const Batches batches(std::vector<Index>{4, 8, 15, 16}, 3, 2);
  std::vector<Index> order = batches.order(0);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<Index>{4, 8, 15, 16}));
  EXPECT_EQ(batches.count(), 2);
}

TEST(Batches, RefuseAnEmptySetOrSize) {
  EXPECT_THROW(Batches(0, 1, 0), InvalidArgument);
  EXPECT_THROW(Batches(-3, 1, 0), InvalidArgument);
  EXPECT_THROW(Batches(5, 0, 0), InvalidArgument);
}

TEST(Split, CutsTheSetInTwoByTheSeed) {
  const Split parts = split(1000, 200, 3);
  EXPECT_EQ(parts.training.size(), 800U);
  EXPECT_EQ(parts.validation.size(), 200U);
  std::set<Index> all(parts.training.begin(), parts.training.end());
  all.insert(parts.validation.begin(), parts.validation.end());
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_EQ(*all.rbegin(), 999);
  EXPECT_EQ(split(1000, 200, 3).validation, parts.validation);
  EXPECT_NE(split(1000, 200, 4).validation, parts.validation);
  // Drawn from all over the set, not one end of it.
  const auto below = std::count_if(parts.validation.begin(), parts.validation.end(),
                                   [](Index i) { return i < 500; });
  EXPECT_NEAR(static_cast<double>(below), 100.0, 40.0);
}

TEST(Split, RefusesToLeaveNothingToTrainOn) {
  EXPECT_TRUE(split(5, 0, 1).validation.empty());
  EXPECT_THROW(split(5, 5, 1), InvalidArgument);
  EXPECT_THROW(split(5, -1, 1), InvalidArgument);
}

}  // namespace
}  // namespace symport
