// SPDX-License-Identifier: MIT
#include "symmetries/low_rank_inverse.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/dense.hpp"
#include "symport/core/random.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

LowRankElement<double> random_element(Random& random, Index order, Index rank) {
  return {std::make_shared<const LowRankMatrix<double>>(random.normal_matrix(order, rank),
                                                        random.normal_matrix(order, rank)),
          0.05};
}

TEST(LowRankInverse, UndoesTheProductOfItsElements) {
  constexpr Index order = 12;
  Random random(5);
  LowRankInverse<double> undo;
  Matrix G = Matrix::Identity(order, order);
  const Matrix X = random.normal_matrix(order, 3);
  for (const Index rank : {2, 1, 3, 2}) {
    const auto g = random_element(random, order, rank);
    undo.append(g);
    g.apply(G);
    // Against a dense inverse, which knows nothing of factors.
    const Matrix expected = inverse(G);
    Matrix forward = X, transposed = X, right = X.transpose();
    undo.apply(forward);
    undo.apply_transposed(transposed);
    undo.apply_right(right);
    EXPECT_LE((forward - expected * X).norm(), tolerance::rounding * expected.norm() * X.norm());
    EXPECT_LE((transposed - expected.transpose() * X).norm(),
              tolerance::rounding * expected.norm() * X.norm());
    EXPECT_LE((right - X.transpose() * expected).norm(),
              tolerance::rounding * expected.norm() * X.norm());
  }
  EXPECT_EQ(undo.rank(), 8);
  undo.clear();
  Matrix same = X;
  undo.apply(same);
  EXPECT_EQ(same, X);
  // What follows does not remember what was cleared.
  const auto g = random_element(random, order, 2);
  undo.append(g);
  undo.apply(same);
  Matrix by_element = X;
  g.apply_inverse(by_element);
  EXPECT_LE((same - by_element).norm(), tolerance::rounding * X.norm());
}

TEST(LowRankInverse, TakesTheIdentityAndRefusesDenseElements) {
  Random random(6);
  LowRankInverse<double> undo;
  undo.append({});
  EXPECT_EQ(undo.rank(), 0);
  EXPECT_THROW(undo.append(random_element(random, 4, 4)), std::logic_error);
}

}  // namespace
}  // namespace symport
