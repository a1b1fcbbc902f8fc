// SPDX-License-Identifier: MIT
#include "symport/training/standardized_source.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/refusal.hpp"
#include "symport/core/random.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

std::vector<Index> leading_samples(Index count) {
  std::vector<Index> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), Index{0});
  return samples;
}

/// More samples than are loaded at once.
TEST(StandardizedSource, GivesTheTrainingSamplesMeanZeroAndDeviationOne) {
  constexpr Index training = 2500, all = 3000;
  Random random(3);
  Matrix X = 5.0 * random.normal_matrix(4, all), Y = random.normal_matrix(2, all);
  X.row(1).array() += 1e6;
  X.row(2).setConstant(0.1);
  Y.row(0) *= 1e-8;
  const auto inner = std::make_shared<DenseSource<double>>(X, Targets<double>(Y));
  const auto samples = leading_samples(training);
  const StandardizedSource<double> source(inner, Standardization<double>::of(*inner, samples));
  Matrix loaded;
  Targets<double> targets;
  source.load(samples, loaded, targets);
  const auto expect_standard = [](const auto& row) {
    EXPECT_NEAR(row.mean(), 0.0, 1e-9);
    EXPECT_NEAR((row.array() - row.mean()).square().mean(), 1.0, 1e-9);
  };
  for (const Index i : {0, 1, 3}) expect_standard(loaded.row(i));
  for (const Index i : {0, 1}) expect_standard(targets.values.row(i));
  EXPECT_LT(loaded.row(2).cwiseAbs().maxCoeff(), 1e-12) << "a constant becomes 0";
  // Other samples by the numbers of the training samples.
  source.load(leading_samples(all), loaded, targets);
  const double mean = X.row(0).head(training).mean();
  const double deviation = std::sqrt((X.row(0).head(training).array() - mean).square().mean());
  EXPECT_NEAR(loaded(0, all - 1), (X(0, all - 1) - mean) / deviation, 1e-12);
}

TEST(StandardizedSource, LeavesClassesAlone) {
  const Matrix X{{1.0, 3.0, 5.0}};
  const auto inner =
      std::make_shared<DenseSource<double>>(X, Targets<double>(std::vector<Index>{2, 0, 1}));
  const StandardizedSource<double> source(inner,
                                          Standardization<double>::of(*inner, leading_samples(2)));
  Matrix loaded;
  Targets<double> targets;
  source.load(std::vector<Index>{2, 0}, loaded, targets);
  EXPECT_EQ(loaded, (Matrix{{3.0, -1.0}}));  // mean 2, deviation 1
  EXPECT_EQ(targets.classes, (std::vector<Index>{1, 2}));
  EXPECT_TRUE(source.categorical());
}

TEST(StandardizedSource, RefusesStatisticsOfOtherFeatures) {
  const auto make = [](Index features) {
    return std::make_shared<DenseSource<double>>(Matrix::Random(features, 3),
                                                 Targets<double>(Matrix::Random(1, 3)));
  };
  const auto of_two = Standardization<double>::of(*make(2), leading_samples(3));
  EXPECT_THROW(StandardizedSource<double>(make(3), of_two), InvalidArgument);
  EXPECT_THROW(Standardization<double>::of(*make(2), {}), InvalidArgument);
}

}  // namespace
}  // namespace symport
