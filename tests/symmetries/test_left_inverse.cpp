// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "symmetries/left_inverse.hpp"
#include "symport/core/random.hpp"

namespace symport {
namespace {

TEST(LeftInverse, IsALeftInverseUpToTheConditionOfTheColumns) {
  Random random(1);
  for (const double smallest : {1.0, 1e-3, 1e-5}) {
    Matrix h = orthogonal_factor(random.normal_matrix(12, 6));
    h.col(5) = h.col(0) + smallest * h.col(5);  // nearly parallel
    const auto ell = left_inverse<double>(h);
    ASSERT_TRUE(ell);
    EXPECT_LT((*ell * h - Matrix::Identity(6, 6)).norm(), 1e-14 / smallest) << smallest;
    // The pseudo-inverse among all left inverses: its rows lie in the span of h.
    EXPECT_LT((*ell - *ell * h * *ell).norm(), 1e-13 / smallest * ell->norm());
  }
}

TEST(LeftInverse, LengthsOfColumnsDoNotMatter) {
  Random random(2);
  Matrix h = random.normal_matrix(9, 4);
  h.col(1) *= 1e9;
  h.col(2) *= 1e-9;
  const auto ell = left_inverse<double>(h);
  ASSERT_TRUE(ell);
  EXPECT_LT((*ell * h - Matrix::Identity(4, 4)).diagonal().norm(), 1e-13);
}

TEST(LeftInverse, DependentColumnsHaveNone) {
  Random random(3);
  Matrix h = random.normal_matrix(9, 4);
  h.col(3) = h.col(0) - 2.0 * h.col(1);
  EXPECT_FALSE(left_inverse<double>(h));
  EXPECT_FALSE(left_inverse<double>(random.normal_matrix(3, 4)));
  EXPECT_FALSE(left_inverse<double>(Matrix::Zero(9, 1)));
}

TEST(LeftInverse, IndependentColumnsAreFoundAmongDependentOnes) {
  Random random(4);
  Matrix h = random.normal_matrix(9, 6);
  h.col(2).setZero();
  h.col(4) = 3.0 * h.col(1) + 1e-9 * h.col(4);
  const auto kept = independent_columns<double>(h);
  EXPECT_EQ(kept.size(), 4u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_TRUE(left_inverse<double>(h(Eigen::all, kept)));
  EXPECT_EQ(independent_columns<double>(random.normal_matrix(3, 8)).size(), 3u);
}

TEST(LeftInverse, FloatIsStricterThanDouble) {
  Random random(5);
  Matrix h = orthogonal_factor(random.normal_matrix(8, 3));
  h.col(2) = h.col(0) + 1e-5 * h.col(2);
  EXPECT_TRUE(left_inverse<double>(h));
  EXPECT_FALSE(left_inverse<float>(h.cast<float>()));
}

}  // namespace
}  // namespace symport
