// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// C <- alpha op(A) op(B) + beta C by the BLAS, on column-major data with leading dimensions; op
/// transposes where asked. The only call into the matrix-product library.
template <Real Scalar>
void gemm(bool transpose_a, bool transpose_b, Index m, Index n, Index k, Scalar alpha,
          const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar beta, Scalar* c,
          Index ldc);

/// C <- alpha op(A) op(B) + beta C on matrices whose columns are contiguous.
template <Real Scalar>
void multiply(Scalar alpha, bool transpose_a, MatrixIn<Scalar> A, bool transpose_b,
              MatrixIn<Scalar> B, Scalar beta, MatrixOut<Scalar> C) {
  gemm(transpose_a, transpose_b, C.rows(), C.cols(), transpose_a ? A.rows() : A.cols(), alpha,
       A.data(), A.outerStride(), B.data(), B.outerStride(), beta, C.data(), C.outerStride());
}

/// C <- A'A, both triangles, at about half the cost of a product where A has many columns.
template <Real Scalar>
void gram(MatrixIn<Scalar> A, MatrixOut<Scalar> C);
/// C <- A A', likewise.
template <Real Scalar>
void row_gram(MatrixIn<Scalar> A, MatrixOut<Scalar> C);

}  // namespace symport
