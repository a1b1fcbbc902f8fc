// SPDX-License-Identifier: MIT
#include "symport/training/image_source.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "symport/core/random.hpp"

namespace symport {
namespace {

ImageSet noise(Index count, Index rows, Index cols, Index channels) {
  ImageSet set{rows, cols, channels, {}, {}};
  Random random(7);
  for (Index i = 0; i < count * set.features(); ++i) {
    set.pixels.push_back(static_cast<std::uint8_t>(random.bits()));
  }
  for (Index i = 0; i < count; ++i) set.classes.push_back(static_cast<std::uint8_t>(i % 10));
  return set;
}

template <class Scalar>
class ImageSourceTest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ImageSourceTest, Precisions);

TYPED_TEST(ImageSourceTest, GivesTheBatchesOfADenseSource) {
  for (const Index channels : {1, 3}) {
    const ImageSet set = noise(12, 4, 5, channels);
    MatrixOf<TypeParam> all(set.features(), set.size());
    for (Index j = 0; j < all.cols(); ++j) {
      for (Index i = 0; i < all.rows(); ++i) {
        const int value = set.pixels[static_cast<std::size_t>(j * all.rows() + i)];
        all(i, j) = static_cast<TypeParam>(value / 255.0L);
      }
    }
    const DenseSource<TypeParam> dense(
        all, Targets<TypeParam>(std::vector<int>(set.classes.begin(), set.classes.end())));
    const ImageSource<TypeParam> images(set);
    EXPECT_EQ(images.samples(), 12);
    EXPECT_EQ(images.features(), 20 * channels);
    EXPECT_TRUE(images.categorical());
    EXPECT_TRUE(dense.categorical());
    const std::vector<std::vector<Index>> batches{{0, 1, 2}, {11, 3, 3}, {5}, {}};
    MatrixOf<TypeParam> X, expected_X;
    Targets<TypeParam> targets(MatrixOf<TypeParam>::Ones(2, 2)), expected;
    for (const std::vector<Index>& batch : batches) {
      images.load(batch, X, targets);
      dense.load(batch, expected_X, expected);
      EXPECT_EQ(X, expected_X);
      EXPECT_EQ(targets.classes, expected.classes);
      EXPECT_EQ(targets.values.size(), 0);
    }
  }
}

TYPED_TEST(ImageSourceTest, KeepsBuffersThatFit) {
  const ImageSource<TypeParam> images(noise(6, 3, 3, 1));
  MatrixOf<TypeParam> X;
  Targets<TypeParam> targets;
  images.load(std::vector<Index>{0, 1}, X, targets);
  const auto* numbers = X.data();
  const auto* classes = targets.classes.data();
  images.load(std::vector<Index>{4, 5}, X, targets);
  EXPECT_EQ(X.data(), numbers);
  EXPECT_EQ(targets.classes.data(), classes);
}

TYPED_TEST(ImageSourceTest, RefusesSetsThatDoNotFit) {
  ImageSet set = noise(2, 2, 2, 1);
  set.pixels.pop_back();
  EXPECT_THAT(test::refusal([&] { ImageSource<TypeParam>{set}; }),
              ::testing::HasSubstr("7 values for 2 images of 2 x 2 x 1"));
  EXPECT_THROW(ImageSource<TypeParam>{ImageSet{}}, InvalidArgument);
}

}  // namespace
}  // namespace symport
