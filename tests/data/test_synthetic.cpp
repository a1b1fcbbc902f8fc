// SPDX-License-Identifier: MIT
#include "symport/data/synthetic.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"

namespace symport {
namespace {

TEST(Synthetic, RegressionHasThePapersShapes) {
  const SampleSet<> data = regression_data();
  EXPECT_EQ(data.X.rows(), 5);
  EXPECT_EQ(data.Y.rows(), 8);
  EXPECT_EQ(data.X.cols(), 4);
  EXPECT_EQ(data.Y.cols(), 4);
  EXPECT_TRUE(data.classes.empty());
}

TEST(Synthetic, RegressionIsUniform) {
  const SampleSet<> data = regression_data({.features = 100, .outputs = 100, .samples = 100});
  for (const Matrix& m : {data.X, data.Y}) {
    EXPECT_GE(m.minCoeff(), 0.0);
    EXPECT_LT(m.maxCoeff(), 1.0);
    // 10,000 numbers: the mean is within 5 standard deviations, 0.289 / 100 each.
    EXPECT_NEAR(m.mean(), 0.5, 5 * 0.00289);
    EXPECT_NEAR((m.array() - 0.5).square().mean(), 1.0 / 12, 5 * 0.000745);
  }
  EXPECT_NE(data.X, data.Y);
}

TEST(Synthetic, SeedDecidesTheData) {
  EXPECT_EQ(regression_data({.seed = 3}).X, regression_data({.seed = 3}).X);
  EXPECT_NE(regression_data({.seed = 3}).X, regression_data({.seed = 4}).X);
  EXPECT_EQ(regression_data({.outputs = 1}).X, regression_data({.outputs = 2}).X);
  EXPECT_EQ(classification_data({.seed = 3}).X, classification_data({.seed = 3}).X);
  EXPECT_NE(classification_data({.seed = 3}).X, classification_data({.seed = 4}).X);
}

TEST(Synthetic, SpiralsWindAroundTheOriginApart) {
  const SampleSet<> data = spiral_data({.samples = 400, .turns = 1.5, .noise = 0.0, .seed = 5});
  ASSERT_EQ(data.X.rows(), 2);
  for (Index i = 0; i < data.samples(); ++i) {
    const double radius = data.X.col(i).norm();
    // Along an arm the direction is that of 3 pi radius; the other arm points the other way.
    const double along =
        data.X(0, i) * std::cos(3 * M_PI * radius) + data.X(1, i) * std::sin(3 * M_PI * radius);
    EXPECT_NEAR(along, data.classes[static_cast<std::size_t>(i)] == 0 ? radius : -radius, 1e-12);
    EXPECT_LT(radius, 1.0);
  }
  EXPECT_EQ(spiral_data({.seed = 3}).X, spiral_data({.seed = 3}).X);
  EXPECT_NE(spiral_data({.seed = 3}).X, spiral_data({.seed = 4}).X);
  EXPECT_EQ(test::refusal([] { spiral_data({.noise = -1.0}); }),
            "noise: found -1.000000, allowed is a finite number >= 0");
}

TEST(Synthetic, ClassesAreBalancedCloudsAroundTheirCentres) {
  const ClassificationOptions options{
      .features = 3, .classes = 4, .samples = 4000, .spread = 0.25, .seed = 1};
  const SampleSet<> data = classification_data(options);
  ClassificationOptions points = options;
  points.spread = 0.0;
  points.samples = 4;
  const Matrix centres = classification_data(points).X;
  std::vector<Index> members(4);
  Matrix means = Matrix::Zero(3, 4);
  double squares = 0.0;
  for (Index i = 0; i < data.samples(); ++i) {
    const Index k = data.classes[static_cast<std::size_t>(i)];
    ++members[static_cast<std::size_t>(k)];
    means.col(k) += data.X.col(i) / 1000.0;
    squares += (data.X.col(i) - centres.col(k)).squaredNorm();
  }
  EXPECT_EQ(members, (std::vector<Index>(4, 1000)));
  EXPECT_LT((means - centres).cwiseAbs().maxCoeff(), 5 * 0.25 / std::sqrt(1000.0));
  EXPECT_NEAR(squares / (4000 * 3), 0.0625, 0.0625 * 5 * std::sqrt(2.0 / 12000));
}

TEST(Synthetic, RefusesEmptySizes) {
  using test::refusal;
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal([] { regression_data({.samples = 0}); }), HasSubstr("samples: found 0"));
  EXPECT_THAT(refusal([] { regression_data({.features = -1}); }), HasSubstr("features: found -1"));
  EXPECT_THAT(refusal([] { classification_data({.classes = 0}); }), HasSubstr("classes: found 0"));
  EXPECT_THAT(refusal([] { classification_data({.spread = -0.5}); }),
              HasSubstr("spread: found -0.5"));
}

}  // namespace
}  // namespace symport
