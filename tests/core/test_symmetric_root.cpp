// SPDX-License-Identifier: MIT
#include "core/symmetric_root.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/numbers.hpp"

namespace symport {
namespace {

template <class Scalar>
class SymmetricEigenvectors : public ::testing::Test {
 public:
  static constexpr double tolerance = 100.0 * std::numeric_limits<Scalar>::epsilon();
  static Matrix random_matrix(Index n, std::uint64_t seed) {
    Random random(seed);
    return testing::random_vector(n * n, random).reshaped(n, n);
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SymmetricEigenvectors, Scalars);

TYPED_TEST(SymmetricEigenvectors, AreOrthogonalAndDiagonalize) {
  using Scalar = TypeParam;
  for (const Index n : {1, 2, 7, 40}) {
    const Matrix B = this->random_matrix(n, 31), S = B + B.transpose();
    MatrixOf<Scalar> V = S.cast<Scalar>();
    VectorOf<Scalar> values;
    ASSERT_TRUE(symmetric_eigenvectors<Scalar>(V, values));
    const Matrix Q = V.template cast<double>();
    EXPECT_LE((Q.transpose().lazyProduct(Q) - Matrix::Identity(n, n)).norm(),
              this->tolerance * double(n));
    const Matrix scaled = Q * values.template cast<double>().asDiagonal();
    EXPECT_LE((S.lazyProduct(Q) - scaled).norm(), this->tolerance * double(n) * S.norm());
    for (Index i = 1; i < n; ++i) EXPECT_LE(values[i - 1], values[i]);
  }
}

TYPED_TEST(SymmetricEigenvectors, DoNotExistOfWhatIsNotFinite) {
  using Scalar = TypeParam;
  MatrixOf<Scalar> A = MatrixOf<Scalar>::Identity(3, 3);
  A(2, 1) = std::numeric_limits<Scalar>::quiet_NaN();
  VectorOf<Scalar> values;
  EXPECT_FALSE(symmetric_eigenvectors<Scalar>(A, values));
}

}  // namespace
}  // namespace symport
