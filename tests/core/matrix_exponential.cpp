// SPDX-License-Identifier: MIT
#include "symport/core/matrix_exponential.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "support/numbers.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

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
    EXPECT_NEAR(Q.determinant(), 1.0, tolerance::rounding);
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
  EXPECT_LE(distance(matrix_exponential(A).determinant(), std::exp(A.trace())),
            tolerance::rounding);
}

}  // namespace
}  // namespace symport
