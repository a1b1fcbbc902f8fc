// SPDX-License-Identifier: MIT
#include "core/lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "symport/core/random.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

Matrix random_symmetric(Index n, Random& random) {
  const Matrix A = random.normal_matrix(n, n);
  return 0.5 * (A + A.transpose());
}

template <Real Scalar>
typename Lanczos<Scalar>::Map times(const MatrixOf<Scalar>& A) {
  return [A](const Scalar* x, Scalar* y) {
    Eigen::Map<VectorOf<Scalar>>(y, A.rows()) = A * Eigen::Map<const VectorOf<Scalar>>(x, A.cols());
  };
}

TEST(Lanczos, AllStepsGiveTheLargestEigenpair) {
  Random random(1);
  for (const Index n : {1, 2, 7, 20}) {
    const Matrix H = random_symmetric(n, random);
    Lanczos<double> krylov(n, n, times<double>(H));
    ASSERT_TRUE(krylov.begin(random.normal_matrix(n, 1).col(0)));
    while (krylov.steps() < krylov.capacity()) krylov.step();
    const double largest = symmetric_eigen(H).values[n - 1];
    EXPECT_NEAR(krylov.value(), largest, tolerance::accumulated);
    const Vector v = krylov.vector();
    EXPECT_NEAR(v.norm(), 1.0, tolerance::rounding);
    EXPECT_LE((H * v - largest * v).norm(), 1e-6);
  }
}

TEST(Lanczos, RitzValuesGrowAndTellTheirResidual) {
  Random random(2);
  const Matrix H = random_symmetric(30, random);
  Lanczos<double> krylov(30, 12, times<double>(H));
  ASSERT_TRUE(krylov.begin(random.normal_matrix(30, 1).col(0)));
  double last = -HUGE_VAL;
  for (int k = 1; k <= 12; ++k) {
    krylov.step();
    const auto [value, residual] = krylov.ritz();
    EXPECT_NEAR(value, krylov.value(), tolerance::accumulated);
    EXPECT_GE(value, last - tolerance::accumulated);
    const Vector v = krylov.vector();
    EXPECT_NEAR((H * v - value * v).norm(), residual, tolerance::accumulated) << k;
    last = value;
  }
}

// With coordinates x = B y of another basis, M = B'B: the same steps on the same operator.
TEST(Lanczos, AMetricIsAChangeOfCoordinates) {
  Random random(3);
  const Index n = 9;
  const Matrix H = random_symmetric(n, random), B = random.normal_matrix(n, n);
  const Matrix M = B.transpose() * B;
  // From M y to the coordinates of H (B y): B^-1 H B M^-1
  const Matrix product = solve(B, H * B * inverse(M));
  const Vector start = random.normal_matrix(n, 1).col(0);
  Lanczos<double> plain(n, 5, times<double>(H));
  Lanczos<double> skewed(n, 5, times<double>(product), times<double>(M));
  ASSERT_TRUE(plain.begin(start));
  ASSERT_TRUE(skewed.begin(solve(B, start)));
  for (int k = 1; k <= 5; ++k) {
    plain.step();
    skewed.step();
    EXPECT_NEAR(skewed.value(), plain.value(), tolerance::accumulated) << k;
    EXPECT_NEAR(skewed.remainder(), plain.remainder(), tolerance::accumulated) << k;
  }
}

TEST(Lanczos, GoesOnFromAnInvariantSpace) {
  const Matrix H = Vector{{1.0, 2.0, 50.0}}.asDiagonal();
  Lanczos<double> krylov(3, 3, times<double>(H));
  ASSERT_TRUE(krylov.begin(Vector::Unit(3, 0)));
  krylov.step();
  EXPECT_LE(krylov.remainder(), tolerance::rounding);
  EXPECT_EQ(krylov.value(), 1.0);
  krylov.restart();
  krylov.step();
  krylov.step();
  EXPECT_NEAR(krylov.value(), 50.0, tolerance::accumulated);
}

TEST(Lanczos, RefusesAStartWithoutADirection) {
  Lanczos<float> krylov(3, 3, times<float>(Eigen::MatrixXf::Identity(3, 3)));
  EXPECT_FALSE(krylov.begin(Eigen::VectorXf::Zero(3)));
  EXPECT_FALSE(krylov.begin(Eigen::VectorXf::Constant(3, std::nanf(""))));
  ASSERT_TRUE(krylov.begin(Eigen::VectorXf::Ones(3)));
  krylov.step();
  EXPECT_NEAR(krylov.value(), 1.0, tolerance::single_precision);
}

TEST(Lanczos, SaysWhenProductsAreNotFinite) {
  Lanczos<double> krylov(2, 2, times<double>(Matrix::Constant(2, 2, std::nan(""))));
  ASSERT_TRUE(krylov.begin(Vector::Ones(2)));
  krylov.step();
  EXPECT_TRUE(std::isnan(krylov.value()));
  EXPECT_TRUE(std::isnan(krylov.ritz().value));
}

}  // namespace
}  // namespace symport
