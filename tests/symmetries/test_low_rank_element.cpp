// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>

#include "core/dense.hpp"
#include "symmetries/low_rank_element.hpp"
#include "symport/core/random.hpp"

namespace symport {
namespace {

TEST(LowRankElement, ActsAsTheDenseMatrixAndItsInverse) {
  Random random(1);
  for (const Index rank : {1, 3, 8, 12}) {  // 8 and more are stored dense
    const Matrix U = random.normal_matrix(8, rank), V = random.normal_matrix(8, rank);
    const auto T = std::make_shared<const LowRankMatrix<double>>(U, V);
    EXPECT_EQ(T->dense(), rank >= 8);
    EXPECT_NEAR(T->squared_norm(), (U * V.transpose()).squaredNorm(), 1e-12 * T->squared_norm());
    const Matrix g = Matrix::Identity(8, 8) + 0.1 * U * V.transpose();
    const LowRankElement<double> element(T, 0.1);
    ASSERT_TRUE(element.invertible());
    const Matrix X = random.normal_matrix(8, 5);
    const auto apply = [&](void (LowRankElement<double>::*f)(MatrixOut<double>) const, Matrix Y) {
      (element.*f)(Y);
      return Y;
    };
    using Element = LowRankElement<double>;
    const double tolerance = 1e-12 * condition_number(g) * X.norm();
    EXPECT_LT((apply(&Element::apply, X) - g * X).norm(), tolerance);
    EXPECT_LT((apply(&Element::apply_transposed, X) - g.transpose() * X).norm(), tolerance);
    EXPECT_LT((apply(&Element::apply_inverse, X) - solve(g, X)).norm(), tolerance);
    EXPECT_LT((apply(&Element::apply_inverse_transposed, X) - solve(g.transpose(), X)).norm(),
              tolerance);
    EXPECT_LT(
        (apply(&Element::apply_inverse_right, X.transpose()) - X.transpose() * inverse(g)).norm(),
        tolerance);
  }
}

TEST(LowRankElement, ASingularElementIsNotInvertible) {
  const Vector u{{1.0, 2.0, 2.0}};
  const auto T = std::make_shared<const LowRankMatrix<double>>(Matrix(u), Matrix(u));
  EXPECT_FALSE(LowRankElement<double>(T, -1.0 / 9.0).invertible());
  EXPECT_FALSE(LowRankElement<double>(T, INFINITY).invertible());
  EXPECT_TRUE(LowRankElement<double>(T, 1.0 / 9.0).invertible());
}

TEST(LowRankMatrix, TheCutIsAProjectionThatKeepsTheLeadingPart) {
  Random random(2);
  // Singular values 1, 1/2, 1/4, ... of a 60 x 60 matrix of rank 30.
  const Matrix left = orthogonal_factor(random.normal_matrix(60, 30));
  const Matrix right = orthogonal_factor(random.normal_matrix(60, 30));
  Vector values(30);
  for (Index i = 0; i < 30; ++i) values[i] = std::ldexp(1.0, -static_cast<int>(i));
  // Factors that hide the values: T = (left D M^-1) (right M')'.
  const Matrix M = random.normal_matrix(30, 30);
  const Matrix U = left * values.asDiagonal() * inverse(M), V = right * M.transpose();
  const Matrix T = U * V.transpose();
  const LowRankMatrix<double> cut(U, V, 8);
  EXPECT_EQ(cut.rank(), 8);
  const Matrix kept = cut.to_dense(), lost = T - kept;
  EXPECT_NEAR(kept.cwiseProduct(lost).sum(), 0.0, 1e-12);
  EXPECT_NEAR(cut.squared_norm(), kept.squaredNorm(), 1e-12);
  const double best = values.tail(22).norm();  // what no matrix of rank 8 can avoid
  EXPECT_GE(lost.norm(), best * (1 - 1e-10));
  EXPECT_LT(lost.norm(), 4 * best);
}

TEST(LowRankMatrix, NothingIsCutUpToTwiceTheRank) {
  Random random(3);
  const Matrix U = random.normal_matrix(20, 5), V = random.normal_matrix(20, 5);
  EXPECT_LT((LowRankMatrix<double>(U, V, 3).to_dense() - U * V.transpose()).norm(), 1e-13);
}

}  // namespace
}  // namespace symport
