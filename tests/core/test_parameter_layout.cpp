// SPDX-License-Identifier: MIT
#include "symport/core/parameter_layout.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

ParameterLayout small_network() {
  ParameterLayout layout;
  layout.add("W1", 2, 3).add("b1", 2).add("W2", 1, 2);
  return layout;
}

TEST(ParameterLayout, PutsBlocksOneBehindTheOther) {
  const ParameterLayout layout = small_network();
  EXPECT_EQ(layout.size(), 10);
  ASSERT_EQ(layout.blocks().size(), 3u);
  EXPECT_EQ(layout.block("W1").offset, 0);
  EXPECT_EQ(layout.block("b1").offset, 6);
  EXPECT_EQ(layout.block("b1").cols, 1);
  EXPECT_EQ(layout.block("W2").offset, 8);
  EXPECT_EQ(layout.block("W2").size(), 2);
}

TEST(ParameterLayout, ViewsAreColumnMajorWindowsIntoTheFlatVector) {
  const ParameterLayout layout = small_network();
  Vector w = Vector::LinSpaced(layout.size(), 0.0, 9.0);
  const auto W1 = ParameterLayout::view(layout.block("W1"), w.data());
  EXPECT_EQ(W1(1, 0), 1.0);
  EXPECT_EQ(W1(0, 2), 4.0);
  ParameterLayout::view(layout.block("W2"), w.data())(0, 1) = -7.0;
  EXPECT_EQ(w[9], -7.0);
  const Vector& constant = w;
  EXPECT_EQ(ParameterLayout::view(layout.block("b1"), constant.data())(1, 0), 7.0);
}

TEST(ParameterLayout, AcceptsEmptyBlocks) {
  ParameterLayout layout;
  layout.add("W1", 0, 3).add("W2", 2, 2);
  EXPECT_EQ(layout.size(), 4);
  EXPECT_EQ(layout.block("W2").offset, 0);
}

TEST(ParameterLayout, HasTensorsOfAnyNumberOfAxes) {
  ParameterLayout layout;
  layout.add("K", {4, 3, 5}).add("b", 4).add("V", 2, 4);
  const ParameterBlock& K = layout.block("K");
  EXPECT_EQ(K.shape, (std::vector<Index>{4, 3, 5}));
  EXPECT_EQ(K.rows, 4);
  EXPECT_EQ(K.cols, 15);
  EXPECT_EQ(K.size(), 60);
  EXPECT_EQ(layout.block("b").shape, std::vector<Index>{4});
  EXPECT_EQ(layout.block("b").offset, 60);
  EXPECT_EQ(layout.block("V").shape, (std::vector<Index>{2, 4}));
  EXPECT_EQ(layout.size(), 72);
  EXPECT_THROW(layout.add("none", std::vector<Index>{}), InvalidArgument);
  EXPECT_THROW(layout.add("less", {2, -1, 2}), InvalidArgument);
}

// Comparing each of 200,000 names with all others takes 50 seconds, looking it up a tenth of one.
TEST(ParameterLayout, TakesManyBlocks) {
  const auto begin = std::chrono::steady_clock::now();
  ParameterLayout layout;
  for (int i = 0; i < 200000; ++i) layout.add("W" + std::to_string(i), 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(layout.block("W199999").offset, 399998);
  EXPECT_THROW(layout.add("W5", 1), InvalidArgument);
  EXPECT_EQ(layout.size(), 400000);
}

TEST(ParameterLayout, RefusesARepeatedNameAndNegativeSizes) {
  ParameterLayout layout = small_network();
  EXPECT_THROW(layout.add("W1", 1), InvalidArgument);
  EXPECT_THROW(layout.add("W3", -1), InvalidArgument);
  EXPECT_THROW(layout.add("W3", 1, -1), InvalidArgument);
  EXPECT_EQ(layout.size(), 10);
  EXPECT_EQ(layout.blocks().size(), 3u);
}

TEST(ParameterLayout, ListsTheNamesThereAreWhenAskedForAnother) {
  try {
    small_network().block("W9");
    FAIL() << "W9 was found";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("W9"));
    EXPECT_THAT(error.what(), HasSubstr("W1, b1, W2"));
  }
}

}  // namespace
}  // namespace symport
