// SPDX-License-Identifier: MIT
#include "symport/objectives/matrix_completion.hpp"

#include <gtest/gtest.h>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/symmetries/factor_pair.hpp"

namespace symport {
namespace {

TEST(MatrixCompletion, IsTheSumOverTheKnownEntries) {
  const auto completion = MatrixCompletion::random(6, 5, 2, 10.0, 0.5, 7);
  const Vector w = Random(2).normal_matrix(completion.dimension(), 1);
  double sum = 0.0;
  Index known = 0;
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 5; ++j) {
      if (completion.mask()(i, j) == 0.0) continue;
      double product = 0.0;  // U is 6 x 2 and V 2 x 5, both column by column
      for (Index k = 0; k < 2; ++k) product += w[k * 6 + i] * w[12 + j * 2 + k];
      sum += std::pow(product - completion.full().Y()(i, j), 2);
      ++known;
    }
  }
  EXPECT_GT(known, 5);
  EXPECT_LT(known, 25);
  EXPECT_NEAR(completion.value(w), sum, 1e-12 * sum);
}

TEST(MatrixCompletion, WithAllEntriesIsTheFactorization) {
  const auto completion = MatrixCompletion::random(6, 5, 2, 10.0, 1.0, 7);
  const auto full = MatrixFactorization::conditioned(6, 5, 2, 10.0, 7);
  const Vector w = Random(2).normal_matrix(full.dimension(), 1);
  EXPECT_EQ(completion.start(), full.start());
  EXPECT_DOUBLE_EQ(completion.value(w), full.value(w));
  EXPECT_NEAR(completion.minimum(), 0.0, 1e-25);
}

TEST(MatrixCompletion, HasTheSymmetryOfAFactorPair) {
  const auto completion = MatrixCompletion::random(6, 5, 2, 10.0, 0.5, 7);
  const FactorPairSymmetry symmetry(completion.full());
  Vector w = completion.start();
  const double before = completion.value(w);
  symmetry.act(Matrix{{2.0, 0.5}, {-1.0, 0.25}}, w);
  EXPECT_NE(w, completion.start());
  EXPECT_NEAR(completion.value(w), before, 1e-13 * before);
}

TEST(MatrixCompletion, RefusesAMaskThatIsNone) {
  const auto full = MatrixFactorization::random(3, 2, 1, 0);
  EXPECT_THROW(MatrixCompletion(full, Matrix::Ones(2, 3)), InvalidArgument);
  EXPECT_THROW(MatrixCompletion(full, Matrix::Zero(3, 2)), InvalidArgument);
  EXPECT_THROW(MatrixCompletion(full, Matrix::Constant(3, 2, 0.5)), InvalidArgument);
  EXPECT_THROW(MatrixCompletion::random(3, 2, 1, 10.0, 0.0, 0), InvalidArgument);
  EXPECT_THROW(MatrixCompletion::random(3, 2, 1, 10.0, 1.5, 0), InvalidArgument);
}

}  // namespace
}  // namespace symport
