// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "lab/data/data_summary.hpp"
#include "support/real_sets.hpp"
#include "symport/data/idx.hpp"

namespace symport::lab {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::find_set;
using ::testing::Pair;

DataSummary summary_of(const IdxPair& pair) {
  return summarize(read_idx_images(pair.images, pair.classes));
}

TEST(RealSets, MnistIsAsPublishedAndLoadsInHalfASecond) {
  const auto files = find_set("mnist");
  if (!files) GTEST_SKIP() << "not fetched";
  const auto began = std::chrono::steady_clock::now();
  const ImageSet training = read_idx_images(files->training.images, files->training.classes);
  const ImageSet test = read_idx_images(files->test.value().images, files->test.value().classes);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  EXPECT_LT(seconds.count(), 0.5);
  const DataSummary summary = summarize(training);
  EXPECT_EQ(summary.samples, 60000);
  EXPECT_EQ(summary.features, 784);
  EXPECT_THAT(
      summary.classes,
      ElementsAre(Pair(0, 5923), Pair(1, 6742), Pair(2, 5958), Pair(3, 6131), Pair(4, 5842),
                  Pair(5, 5421), Pair(6, 5918), Pair(7, 6265), Pair(8, 5851), Pair(9, 5949)));
  EXPECT_NEAR(summary.mean, 0.1307, 5e-5);
  EXPECT_EQ(test.size(), 10000);
}

TEST(RealSets, FashionMnistIsAsPublished) {
  const auto files = find_set("fashion-mnist");
  if (!files) GTEST_SKIP() << "not fetched";
  const DataSummary training = summary_of(files->training), test = summary_of(files->test.value());
  EXPECT_EQ(training.classes.size(), 10u);
  EXPECT_THAT(training.classes, Each(Pair(::testing::_, 6000)));
  EXPECT_THAT(test.classes, Each(Pair(::testing::_, 1000)));
  EXPECT_NEAR(training.mean, 0.2860, 5e-5);
}

TEST(RealSets, Cifar10IsAsPublished) {
  const auto files = find_set("cifar10");
  if (!files) GTEST_SKIP() << "not fetched";
  const DataSummary training = summary_of(files->training), test = summary_of(files->test.value());
  EXPECT_EQ(training.features, 3072);
  EXPECT_THAT(training.classes, Each(Pair(::testing::_, 5000)));
  EXPECT_THAT(test.classes, Each(Pair(::testing::_, 1000)));
  ASSERT_EQ(training.channel_means.size(), 3u);
  EXPECT_NEAR(training.channel_means[0], 0.4914, 5e-5);
  EXPECT_NEAR(training.channel_means[1], 0.4822, 5e-5);
  EXPECT_NEAR(training.channel_means[2], 0.4465, 5e-5);
}

}  // namespace
}  // namespace symport::lab
