// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// Products with a mini-batch: a large matrix and one of few columns. A general product library
/// copies the large one into the order of its kernel first, which a few columns do not pay back.
/// `gemm` chooses between them and the BLAS, their plain version; tests compare it with sums
/// written out.

/// Whether `thin_multiply` is the faster way for C (m x n) <- A (m x k) B.
template <Real Scalar>
bool thin_enough(Index m, Index n, Index k);

/// C <- alpha A B + beta C, column-major, for m >= `thin_rows`.
template <Real Scalar>
void thin_multiply(Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
                   const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc);

/// Whether `thin_transposed` is the faster way for C (m x n) <- A' (m x k) B.
template <Real Scalar>
bool thin_enough_transposed(Index m, Index n, Index k);

/// C <- alpha A'B + beta C, column-major: products of columns, for any m and n and k >= 8.
template <Real Scalar>
void thin_transposed(Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
                     const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc);

/// Rows of a tile of A B.
template <Real Scalar>
constexpr Index thin_rows = 64 / static_cast<Index>(sizeof(Scalar));

/// A (m x k, k small) in the order in which A B' is computed a few columns at a time.
template <Real Scalar>
class OuterProduct {
 public:
  void pack(MatrixIn<Scalar> A);
  /// out <- the columns first ... first + count - 1 of A B', one after the other.
  void columns(MatrixIn<Scalar> B, Index first, Index count, Scalar* out) const;

 private:
  Index rows_ = 0, depth_ = 0;
  std::vector<Scalar> panels_;  ///< thin_rows rows at a time, the last ones filled up with zeros
};

}  // namespace symport
