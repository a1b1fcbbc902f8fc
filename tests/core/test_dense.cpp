// SPDX-License-Identifier: MIT
#include "core/dense.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/numbers.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

TEST(Dense, SymmetricEigenvectorsDiagonaliseInAscendingOrder) {
  Random random(4);
  const Matrix A = testing::random_positive_definite(6, random) - 2.0 * Matrix::Identity(6, 6);
  const SymmetricEigen eigen = symmetric_eigen(A);
  EXPECT_LE(distance(A * eigen.vectors, eigen.vectors * eigen.values.asDiagonal()),
            tolerance::rounding);
  EXPECT_LE((eigen.vectors.transpose() * eigen.vectors - Matrix::Identity(6, 6)).norm(),
            tolerance::rounding);
  for (Index i = 1; i < 6; ++i) EXPECT_GE(eigen.values[i], eigen.values[i - 1]);
}

TEST(Dense, TridiagonalEigenvaluesAreThoseOfTheFullMatrix) {
  const Vector diagonal{{2.0, -1.0, 0.5, 3.0}}, off_diagonal{{0.3, 1.0, -2.0}};
  Matrix A = diagonal.asDiagonal();
  A.diagonal(1) = A.diagonal(-1) = off_diagonal;
  EXPECT_LE(distance(tridiagonal_eigenvalues(diagonal, off_diagonal), symmetric_eigen(A).values),
            tolerance::rounding);
}

TEST(Dense, SingularValuesRebuildTheMatrixInDescendingOrder) {
  Random random(5);
  for (const auto& [rows, cols] : {std::pair{3, 5}, {5, 3}, {4, 4}}) {
    const Matrix A = random.normal_matrix(rows, cols);
    const SingularValues svd = singular_values(A);
    const Index k = std::min(rows, cols);
    ASSERT_EQ(svd.values.size(), k);
    EXPECT_LE(distance(svd.U * svd.values.asDiagonal() * svd.V.transpose(), A),
              tolerance::rounding);
    EXPECT_LE((svd.U.transpose() * svd.U - Matrix::Identity(k, k)).norm(), tolerance::rounding);
    EXPECT_LE((svd.V.transpose() * svd.V - Matrix::Identity(k, k)).norm(), tolerance::rounding);
    for (Index i = 1; i < k; ++i) EXPECT_LE(svd.values[i], svd.values[i - 1]);
    EXPECT_GE(svd.values[k - 1], 0.0);
  }
}

TEST(Dense, ConditionIsTheQuotientOfTheExtremeSingularValues) {
  EXPECT_LE(distance(condition_number(Matrix(Vector{{-8.0, 2.0, 4.0}}.asDiagonal())), 4.0),
            tolerance::rounding);
  EXPECT_EQ(condition_number(Matrix::Zero(2, 2)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(condition_number(Matrix(0, 0)), 1.0);
}

TEST(Dense, SolvesInvertsAndTakesDeterminants) {
  const Matrix A{{2.0, 1.0}, {5.0, 3.0}};
  EXPECT_LE(distance(inverse(A), Matrix{{3.0, -1.0}, {-5.0, 2.0}}), tolerance::rounding);
  EXPECT_NEAR(determinant(A), 1.0, tolerance::rounding);
  Random random(6);
  const Matrix B = random.normal_matrix(5, 5), X = random.normal_matrix(5, 3);
  EXPECT_LE(distance(solve(B, B * X), X), tolerance::accumulated);
}

TEST(Dense, OrthogonalFactorHasPositiveDiagonalInR) {
  Random random(7);
  for (const auto& [rows, cols] : {std::pair{4, 4}, {6, 3}}) {
    const Matrix A = random.normal_matrix(rows, cols), Q = orthogonal_factor(A);
    ASSERT_EQ(Q.cols(), cols);
    EXPECT_LE((Q.transpose() * Q - Matrix::Identity(cols, cols)).norm(), tolerance::rounding);
    const Matrix R = Q.transpose() * A;
    EXPECT_LE(distance(Q * R, A), tolerance::rounding);
    for (Index j = 0; j < cols; ++j) {
      EXPECT_GT(R(j, j), 0.0);
      for (Index i = j + 1; i < cols; ++i) EXPECT_NEAR(R(i, j), 0.0, tolerance::rounding);
    }
  }
}

TEST(MatrixExponential, OfZeroIsExactlyTheIdentity) {
  EXPECT_EQ(matrix_exponential(Matrix::Zero(3, 3)), Matrix(Matrix::Identity(3, 3)));
}

TEST(MatrixExponential, OfADiagonalMatrixIsThatOfItsEntries) {
  const Vector d{{-3.0, 0.0, 0.5, 2.0}};
  const Matrix expected = d.array().exp().matrix().asDiagonal();
  EXPECT_LE(distance(matrix_exponential(d.asDiagonal()), expected), tolerance::rounding);
}

TEST(MatrixExponential, OfANilpotentMatrixIsItsFiniteSeries) {
  const Matrix N{{0.0, 2.0, 5.0}, {0.0, 0.0, -3.0}, {0.0, 0.0, 0.0}};
  const Matrix expected = Matrix::Identity(3, 3) + N + 0.5 * N * N;
  EXPECT_LE(distance(matrix_exponential(N), expected), tolerance::rounding);
}

TEST(MatrixExponential, OfAPlaneRotationIsSineAndCosine) {
  for (const double angle : {1e-8, 0.1, 1.0, 3.0, 30.0}) {
    const Matrix expected{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}};
    EXPECT_LE(distance(matrix_exponential(Matrix{{0.0, -angle}, {angle, 0.0}}), expected),
              tolerance::rounding)
        << angle;
  }
}

TEST(MatrixExponential, OfASkewMatrixIsARotation) {
  Random random(1);
  for (const Index n : {3, 4, 7}) {
    const Matrix A = random.normal_matrix(n, n);
    const Matrix Q = matrix_exponential(A - A.transpose());
    EXPECT_LE((Q.transpose() * Q - Matrix::Identity(n, n)).norm(), tolerance::rounding);
    EXPECT_NEAR(determinant(Q), 1.0, tolerance::rounding);
  }
}

TEST(MatrixExponential, TurnsSumsOfCommutingMatricesIntoProducts) {
  Random random(2);
  const Matrix A = random.normal_matrix(4, 4);
  const Matrix product = matrix_exponential(0.7 * A) * matrix_exponential(-1.9 * A);
  EXPECT_LE(distance(product, matrix_exponential(-1.2 * A)), tolerance::rounding);
}

TEST(MatrixExponential, HasTheExponentialOfTheTraceForDeterminant) {
  Random random(3);
  const Matrix A = random.normal_matrix(5, 5);
  EXPECT_LE(distance(determinant(matrix_exponential(A)), std::exp(A.trace())), tolerance::rounding);
}

}  // namespace
}  // namespace symport
