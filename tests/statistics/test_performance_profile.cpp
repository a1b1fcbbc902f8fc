// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
#include "symport/statistics/performance_profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

// Four problems, two solvers; the third is solved by the second only, the fourth by none.
TEST(PerformanceProfile, CountsWhatIsSolvedWithinAFactorOfTheBest) {
  Matrix costs(4, 2);
  costs << 1, 3,  //
      8, 2,       //
      infinity, 5, infinity, infinity;
  const PerformanceProfile profile(costs);
  EXPECT_EQ(profile.problems(), 4);
  EXPECT_EQ(profile.ratios(0), (std::vector<double>{1, 4}));
  EXPECT_EQ(profile.ratios(1), (std::vector<double>{1, 1, 3}));
  EXPECT_EQ(profile.at(0, 1.0), 0.25);
  EXPECT_EQ(profile.at(0, 3.999), 0.25);
  EXPECT_EQ(profile.at(0, 4.0), 0.5);
  EXPECT_EQ(profile.at(0, 1e9), 0.5) << "what is not solved never counts";
  EXPECT_EQ(profile.at(1, 1.0), 0.5);
  EXPECT_EQ(profile.at(1, 3.0), 0.75);
  EXPECT_EQ(profile.at(1, 0.5), 0.0);
}

TEST(PerformanceProfile, TiesAreBestForBoth) {
  const PerformanceProfile profile(Matrix::Constant(3, 2, 7.0));
  EXPECT_EQ(profile.at(0, 1.0), 1.0);
  EXPECT_EQ(profile.at(1, 1.0), 1.0);
}

TEST(PerformanceProfile, RefusesWhatIsNoCost) {
  EXPECT_THROW(PerformanceProfile(Matrix(0, 2)), InvalidArgument);
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(PerformanceProfile(Matrix::Constant(1, 1, bad)), InvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace symport
