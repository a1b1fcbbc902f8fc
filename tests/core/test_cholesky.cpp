// SPDX-License-Identifier: MIT
#include "core/cholesky.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/dense.hpp"
#include "symport/core/random.hpp"
#include "symport/core/thread_scope.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

Matrix positive_definite(Index n, Random& random) {
  const Matrix A = random.normal_matrix(n, n + 3);
  return A * A.transpose();
}

TEST(Cholesky, SolvesAndInvertsAsLuDoes) {
  Random random(1);
  for (const Index n : {1, 2, 20, 100}) {
    const Matrix A = positive_definite(n, random);
    const Matrix X = random.normal_matrix(37, n);
    Matrix L = A;
    L.triangularView<Eigen::StrictlyUpper>().setConstant(7.0);  // not to be read
    ASSERT_TRUE(cholesky<double>(L));
    const Matrix expected = solve(A, X.transpose()).transpose();
    for (const int count : {1, 3}) {
      const ThreadScope scope(count, count);
      Matrix found = X;
      divide_by_cholesky<double>(L, found);
      EXPECT_LE((found - expected).norm(), tolerance::accumulated * expected.norm());
    }
    invert_cholesky<double>(L);
    EXPECT_LE((L * A - Matrix::Identity(n, n)).norm(), tolerance::accumulated * A.norm());
    EXPECT_EQ(L, L.transpose());
  }
}

TEST(Cholesky, SaysWhenThereIsNone) {
  Matrix indefinite = Matrix::Identity(3, 3);
  indefinite(1, 1) = -1.0;
  EXPECT_FALSE(cholesky<double>(indefinite));
  MatrixOf<float> zero = MatrixOf<float>::Zero(2, 2);
  EXPECT_FALSE(cholesky<float>(zero));
  Matrix not_a_number = Matrix::Identity(3, 3);
  not_a_number(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(cholesky<double>(not_a_number));
}

}  // namespace
}  // namespace symport
