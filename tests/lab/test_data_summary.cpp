// SPDX-License-Identifier: MIT
#include "lab/data/data_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symport::lab {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(DataSummary, OfColourImages) {
  const ImageSet images{1, 2, 3, {0, 51, 102, 0, 51, 102, 0, 153, 102, 0, 153, 255}, {7, 2}};
  const DataSummary summary = summarize(images);
  EXPECT_EQ(summary.samples, 2);
  EXPECT_EQ(summary.features, 6);
  EXPECT_EQ(summary.outputs, 0);
  EXPECT_THAT(summary.classes, ElementsAre(Pair(2, 1), Pair(7, 1)));
  EXPECT_EQ(summary.smallest, 0.0);
  EXPECT_EQ(summary.largest, 1.0);
  EXPECT_THAT(summary.channel_means, ElementsAre(DoubleEq(0.0), DoubleEq(0.4), DoubleEq(0.55)));
  EXPECT_NEAR(summary.mean, 0.95 / 3, 1e-15);
  EXPECT_THAT(summarize(ImageSet{1, 1, 1, {255}, {0}}).channel_means, IsEmpty());
}

TEST(DataSummary, OfSamplesWithTargetsAndWithClasses) {
  SampleSet<> samples{Matrix{{-1.0, 2.0, 5.0}}, {}, Matrix{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}};
  const DataSummary numbers = summarize(samples);
  EXPECT_EQ(numbers.samples, 3);
  EXPECT_EQ(numbers.features, 1);
  EXPECT_EQ(numbers.outputs, 2);
  EXPECT_EQ(numbers.smallest, -1.0);
  EXPECT_EQ(numbers.largest, 5.0);
  EXPECT_EQ(numbers.mean, 2.0);
  samples.Y.resize(0, 0);
  samples.classes = {0, Index{1} << 50, 0};  // no memory for classes that nobody has
  EXPECT_THAT(summarize(samples).classes, ElementsAre(Pair(0, 2), Pair(Index{1} << 50, 1)));
  EXPECT_THROW(summarize(SampleSet<>{}), std::logic_error);
  EXPECT_THROW(summarize(ImageSet{}), std::logic_error);
}

}  // namespace
}  // namespace symport::lab
