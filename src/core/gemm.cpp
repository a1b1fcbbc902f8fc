// SPDX-License-Identifier: MIT
#include "symport/core/gemm.hpp"

#include <cblas.h>

#include <algorithm>

#include "core/blas_buffer.hpp"
#include "core/blas_index.hpp"
#include "core/pool.hpp"
#include "core/thin_products.hpp"
#include "symport/core/thread_scope.hpp"

namespace symport {

namespace {

CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

// A single column is not worth packing A for.
void blas(bool ta, bool tb, Index m, Index n, Index k, float alpha, const float* a, Index lda,
          const float* b, Index ldb, float beta, float* c, Index ldc) {
  if (n == 1) {
    cblas_sgemv(CblasColMajor, op(ta), narrow(ta ? k : m), narrow(ta ? m : k), alpha, a,
                narrow(lda), b, narrow(tb ? ldb : 1), beta, c, 1);
    return;
  }
  cblas_sgemm(CblasColMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda),
              b, narrow(ldb), beta, c, narrow(ldc));
}

void blas(bool ta, bool tb, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc) {
  if (n == 1) {
    cblas_dgemv(CblasColMajor, op(ta), narrow(ta ? k : m), narrow(ta ? m : k), alpha, a,
                narrow(lda), b, narrow(tb ? ldb : 1), beta, c, 1);
    return;
  }
  cblas_dgemm(CblasColMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda),
              b, narrow(ldb), beta, c, narrow(ldc));
}

/// The upper triangle of op(A) op(A)' (n x n, k products an entry).
void half_gram(bool ta, Index n, Index k, const float* a, Index lda, float* c, Index ldc) {
  cblas_ssyrk(CblasColMajor, CblasUpper, op(ta), narrow(n), narrow(k), 1, a, narrow(lda), 0, c,
              narrow(ldc));
}
void half_gram(bool ta, Index n, Index k, const double* a, Index lda, double* c, Index ldc) {
  cblas_dsyrk(CblasColMajor, CblasUpper, op(ta), narrow(n), narrow(k), 1, a, narrow(lda), 0, c,
              narrow(ldc));
}

/// The lower triangle of C <- the upper one, in blocks that stay in the cache.
template <Real Scalar>
void mirror(MatrixOut<Scalar> C) {
  constexpr Index side = 32;
  const Index n = C.cols();
  for (Index j = 0; j < n; j += side) {
    const Index cols = std::min(side, n - j);
    auto diagonal = C.block(j, j, cols, cols);
    diagonal.template triangularView<Eigen::StrictlyLower>() = diagonal.transpose();
    for (Index i = j + side; i < n; i += side) {
      const Index rows = std::min(side, n - i);
      C.block(i, j, rows, cols) = C.block(j, i, cols, rows).transpose();
    }
  }
}

/// On one thread, by the kernel that suits the shape.
template <Real Scalar>
void product(bool ta, bool tb, Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
             const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc) {
  if (ta && !tb && thin_enough_transposed<Scalar>(m, n, k)) {
    thin_transposed(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return;
  }
  if (!ta && !tb && thin_enough<Scalar>(m, n, k)) {
    thin_multiply(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return;
  }
  if (!ta && tb && n <= 64 && k <= 64 && thin_enough<Scalar>(m, n, k)) {
    const Eigen::Map<const MatrixOf<Scalar>, 0, Eigen::OuterStride<>> B(b, n, k, {ldb});
    const MatrixOf<Scalar> turned = B.transpose();
    thin_multiply(m, n, k, alpha, a, lda, turned.data(), k, beta, c, ldc);
    return;
  }
  prepare_blas();
  blas(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// Multiplications from which a second thread is worth waking.
constexpr double smallest_part = 5e5;
/// Parts begin at multiples of this, so that all but the last are made of whole kernel tiles.
constexpr Index tile = 16;

/// C in as many blocks of rows or columns as threads were asked for. The blocks depend on the shape
/// and that number alone.
template <Real Scalar>
void split(bool ta, bool tb, Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
           const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc) {
  if (m == 0 || n == 0) return;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto parts = static_cast<int>(std::min(work / smallest_part, double(threads())));
  if (parts < 2) {
    product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return;
  }
  const bool by_rows = m > n;
  const Index extent = by_rows ? m : n;
  const Index tiles = (extent + tile - 1) / tile;
  run_parts(parts, [&](int part) {
    const Index first = std::min(extent, tiles * part / parts * tile);
    const Index count = std::min(extent, tiles * (part + 1) / parts * tile) - first;
    if (count == 0) return;
    if (by_rows) {
      product(ta, tb, count, n, k, alpha, a + first * (ta ? lda : 1), lda, b, ldb, beta, c + first,
              ldc);
    } else {
      product(ta, tb, m, count, k, alpha, a, lda, b + first * (tb ? 1 : ldb), ldb, beta,
              c + first * ldc, ldc);
    }
  });
}

}  // namespace

template <>
void gemm<float>(bool ta, bool tb, Index m, Index n, Index k, float alpha, const float* a,
                 Index lda, const float* b, Index ldb, float beta, float* c, Index ldc) {
  split(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <>
void gemm<double>(bool ta, bool tb, Index m, Index n, Index k, double alpha, const double* a,
                  Index lda, const double* b, Index ldb, double beta, double* c, Index ldc) {
  split(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <Real Scalar>
void gram(MatrixIn<Scalar> A, MatrixOut<Scalar> C) {
  // Few columns are quicker as a product, and only a product is divided among threads.
  if (A.cols() < 64 || threads() > 1) {
    multiply<Scalar>(1, true, A, false, A, 0, C);
    return;
  }
  prepare_blas();
  half_gram(true, A.cols(), A.rows(), A.data(), A.outerStride(), C.data(), C.outerStride());
  mirror<Scalar>(C);
}

template <Real Scalar>
void row_gram(MatrixIn<Scalar> A, MatrixOut<Scalar> C) {
  if (A.rows() < 64 || threads() > 1) {
    multiply<Scalar>(1, false, A, true, A, 0, C);
    return;
  }
  prepare_blas();
  half_gram(false, A.rows(), A.cols(), A.data(), A.outerStride(), C.data(), C.outerStride());
  mirror<Scalar>(C);
}

template void gram(MatrixIn<float>, MatrixOut<float>);
template void gram(MatrixIn<double>, MatrixOut<double>);
template void row_gram(MatrixIn<float>, MatrixOut<float>);
template void row_gram(MatrixIn<double>, MatrixOut<double>);

}  // namespace symport
