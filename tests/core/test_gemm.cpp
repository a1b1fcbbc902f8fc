// SPDX-License-Identifier: MIT
#include "symport/core/gemm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <thread>

#include "support/numbers.hpp"
#include "symport/core/thread_scope.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

template <class Scalar>
class Gemm : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Precisions);

TYPED_TEST(Gemm, EqualsTheSumOfProductsForEveryTransposition) {
  using Scalar = TypeParam;
  const double allowed =
      std::is_same_v<Scalar, double> ? tolerance::rounding : tolerance::single_precision;
  Random random(1);
  constexpr Index m = 5, n = 3, k = 4, spare = 2;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      // Larger matrices, of which the product uses the upper left part.
      const MatrixOf<Scalar> A =
          random.normal_matrix((ta ? k : m) + spare, ta ? m : k).template cast<Scalar>();
      const MatrixOf<Scalar> B =
          random.normal_matrix((tb ? n : k) + spare, tb ? k : n).template cast<Scalar>();
      const MatrixOf<Scalar> before = random.normal_matrix(m + spare, n).template cast<Scalar>();
      MatrixOf<Scalar> C = before;
      gemm<Scalar>(ta, tb, m, n, k, Scalar(2), A.data(), A.rows(), B.data(), B.rows(), Scalar(-0.5),
                   C.data(), C.rows());
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          double sum = -0.5 * before(i, j);
          for (Index l = 0; l < k; ++l) {
            sum += 2.0 * (ta ? A(l, i) : A(i, l)) * (tb ? B(j, l) : B(l, j));
          }
          EXPECT_NEAR(C(i, j), sum, allowed * (1.0 + std::abs(sum))) << ta << tb << i << j;
        }
        for (Index i = m; i < m + spare; ++i) EXPECT_EQ(C(i, j), before(i, j));
      }
    }
  }
}

TYPED_TEST(Gemm, IsExactForFewColumnsOfEveryNumber) {
  using Scalar = TypeParam;
  Random random(3);
  // Whole numbers, so that every order of summation gives the same: no tolerance is needed.
  const auto whole_numbers = [&](Index rows, Index cols) {
    return MatrixOf<Scalar>(MatrixOf<Scalar>::NullaryExpr(
        rows, cols, [&] { return static_cast<Scalar>(random.below(9)) - Scalar(4); }));
  };
  const auto check = [&](Index m, Index n, Index k) {
    const MatrixOf<Scalar> A = whole_numbers(m, k), B = whole_numbers(k, n);
    const MatrixOf<Scalar> At = A.transpose(), Bt = B.transpose(), before = whole_numbers(m, n);
    const MatrixOf<Scalar> product = Scalar(3) * A.lazyProduct(B);
    for (const Scalar beta : {Scalar(0), Scalar(1), Scalar(-2)}) {
      for (const int transposed : {0, 1, 2, 3}) {
        const bool ta = transposed % 2 == 1, tb = transposed / 2 == 1;
        MatrixOf<Scalar> C = before;
        if (beta == Scalar(0)) C.setConstant(std::numeric_limits<Scalar>::quiet_NaN());
        multiply<Scalar>(3, ta, ta ? At : A, tb, tb ? Bt : B, beta, C);
        EXPECT_EQ(C, beta * before + product)
            << m << 'x' << n << 'x' << k << " beta " << beta << ' ' << ta << tb;
      }
    }
  };
  for (const Index m : {1, 5, 8, 19, 128, 131}) {
    for (Index n = 1; n <= 50; n += n < 14 ? 1 : 9) {
      for (const Index k : {Index{8}, n + 20, n + 400}) check(m, n, k);
    }
  }
  check(18, 20, 2100);
}

TYPED_TEST(Gemm, GramIsTheProductWithTheTranspose) {
  using Scalar = TypeParam;
  const double allowed =
      std::is_same_v<Scalar, double> ? tolerance::rounding : tolerance::single_precision;
  Random random(4);
  for (const Index columns : {1, 20, 63, 64, 130}) {
    const MatrixOf<Scalar> A = random.normal_matrix(40, columns).template cast<Scalar>();
    const Matrix expected =
        A.template cast<double>().transpose().lazyProduct(A.template cast<double>());
    MatrixOf<Scalar> C =
        MatrixOf<Scalar>::Constant(columns, columns, std::numeric_limits<Scalar>::quiet_NaN());
    gram<Scalar>(A, C);
    EXPECT_LE((C.template cast<double>() - expected).norm(), allowed * expected.norm()) << columns;
  }
}

TYPED_TEST(Gemm, DoesNothingToAnEmptyResult) {
  TypeParam untouched = 3;
  gemm<TypeParam>(false, false, 0, 4, 2, 1, &untouched, 1, &untouched, 2, 0, &untouched, 1);
  EXPECT_EQ(untouched, TypeParam(3));
}

/// Products large enough to be divided, in shapes that divide unevenly.
template <class Scalar>
std::vector<MatrixOf<Scalar>> large_products() {
  Random random(2);
  std::vector<MatrixOf<Scalar>> results;
  for (const auto& [m, n, k] :
       {std::array<Index, 3>{301, 37, 203}, {37, 301, 203}, {129, 129, 99}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const MatrixOf<Scalar> A =
            random.normal_matrix(ta ? k : m, ta ? m : k).template cast<Scalar>();
        const MatrixOf<Scalar> B =
            random.normal_matrix(tb ? n : k, tb ? k : n).template cast<Scalar>();
        results.push_back(random.normal_matrix(m, n).template cast<Scalar>());
        multiply<Scalar>(Scalar(0.5), ta, A, tb, B, Scalar(2), results.back());
      }
    }
  }
  return results;
}

TYPED_TEST(Gemm, IsTheSameToRoundingForAnyNumberOfThreadsAndBitForBitForOne) {
  const double allowed =
      std::is_same_v<TypeParam, double> ? tolerance::rounding : tolerance::single_precision;
  const auto serial = large_products<TypeParam>();
  for (const int count : {2, 3, 5}) {
    const ThreadScope scope(count, count);
    const auto first = large_products<TypeParam>();
    for (int repetition = 0; repetition < 5; ++repetition) {
      const auto again = large_products<TypeParam>();
      for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(again[i], first[i]) << i;
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_LE((first[i] - serial[i]).norm(), allowed * serial[i].norm()) << i;
    }
  }
}

TYPED_TEST(Gemm, DependsOnTheThreadsAskedForNotOnThoseThatRun) {
  for (const int requested : {2, 3, 5}) {
    const auto reference = [&] {
      const ThreadScope all(requested, requested);
      return large_products<TypeParam>();
    }();
    for (int running = 1; running < requested; ++running) {
      const ThreadScope fewer(requested, running);
      ASSERT_EQ(fewer.running(), running);
      EXPECT_EQ(large_products<TypeParam>(), reference) << running << " of " << requested;
    }
  }
}

TEST(Threads, ServeSeveralCallersAtOnce) {
  const auto divided = [] {
    const ThreadScope scope(2, 2);
    return large_products<double>();
  };
  const auto alone = divided();
  std::vector<std::vector<Matrix>> results(3);
  {
    std::vector<std::jthread> callers;
    for (auto& result : results) {
      callers.emplace_back([&] { result = divided(); });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, alone);
}

}  // namespace
}  // namespace symport
