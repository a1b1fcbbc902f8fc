// SPDX-License-Identifier: MIT
#include <cblas.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <vector>

#include "core/blas_buffer.hpp"

namespace {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Strided = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using StridedIn = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using StridedVector = Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;
template <class Scalar>
using StridedVectorIn =
    Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;

/// C <- beta C; a C that is not read may hold anything.
template <class Scalar, class Result>
void scale(Scalar beta, Result& C) {
  if (beta == Scalar(0)) {
    C.setZero();
  } else if (beta != Scalar(1)) {
    C *= beta;
  }
}

/// C <- alpha op(A) op(B) + beta C, in tiles of 4 x 2 dot products. (Eigen's kernel is slow where
/// its many small functions are not inlined, and a linker takes any file's copy of these.)
template <class Scalar>
void gemm(bool ta, bool tb, int m, int n, int k, Scalar alpha, const Scalar* a, int lda,
          const Scalar* b, int ldb, Scalar beta, Scalar* c, int ldc) {
  Strided<Scalar> C(c, m, n, Eigen::OuterStride<>(ldc));
  scale(beta, C);
  // Rows of op(A) and columns of op(B), each in one piece; zeros fill the last tiles.
  constexpr int height = 4, width = 2;
  const int tall = (m + height - 1) / height * height, wide = (n + width - 1) / width * width;
  std::vector<Scalar> rows(static_cast<std::size_t>(tall) * k),
      columns(static_cast<std::size_t>(wide) * k);
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p < k; ++p) rows[i * k + p] = ta ? a[p + i * lda] : a[i + p * lda];
  }
  for (int j = 0; j < n; ++j) {
    for (int p = 0; p < k; ++p) columns[j * k + p] = tb ? b[j + p * ldb] : b[p + j * ldb];
  }
  for (int j = 0; j < n; j += width) {
    const Scalar *y0 = columns.data() + j * k, *y1 = y0 + k;
    for (int i = 0; i < m; i += height) {
      const Scalar *x0 = rows.data() + i * k, *x1 = x0 + k, *x2 = x1 + k, *x3 = x2 + k;
      Scalar s00 = 0, s10 = 0, s20 = 0, s30 = 0, s01 = 0, s11 = 0, s21 = 0, s31 = 0;
      for (int p = 0; p < k; ++p) {
        const Scalar u = y0[p], v = y1[p];
        s00 += x0[p] * u, s10 += x1[p] * u, s20 += x2[p] * u, s30 += x3[p] * u;
        s01 += x0[p] * v, s11 += x1[p] * v, s21 += x2[p] * v, s31 += x3[p] * v;
      }
      const Scalar sums[width][height] = {{s00, s10, s20, s30}, {s01, s11, s21, s31}};
      for (int q = 0; q < width && j + q < n; ++q) {
        for (int r = 0; r < height && i + r < m; ++r) C(i + r, j + q) += alpha * sums[q][r];
      }
    }
  }
}

template <class Scalar>
void gemv(bool ta, int m, int n, Scalar alpha, const Scalar* a, int lda, const Scalar* x, int incx,
          Scalar beta, Scalar* y, int incy) {
  const StridedIn<Scalar> A(a, m, n, Eigen::OuterStride<>(lda));
  const StridedVectorIn<Scalar> from(x, ta ? m : n, Eigen::InnerStride<>(incx));
  StridedVector<Scalar> to(y, ta ? n : m, Eigen::InnerStride<>(incy));
  scale(beta, to);
  if (ta) {
    to.noalias() += alpha * A.transpose() * from;
  } else {
    to.noalias() += alpha * A * from;
  }
}

/// One triangle was asked for; the other may be overwritten too, as its callers fill it in.
template <class Scalar>
void syrk(bool ta, int n, int k, Scalar alpha, const Scalar* a, int lda, Scalar beta, Scalar* c,
          int ldc) {
  gemm(ta, !ta, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}

/// X <- alpha X op(L)^-1
template <class Scalar>
void trsm(bool transpose, int m, int n, Scalar alpha, const Scalar* l, int ldl, Scalar* x,
          int ldx) {
  const StridedIn<Scalar> L(l, n, n, Eigen::OuterStride<>(ldl));
  Strided<Scalar> X(x, m, n, Eigen::OuterStride<>(ldx));
  scale(alpha, X);
  if (transpose) {
    L.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(
        X);
  } else {
    L.template triangularView<Eigen::Lower>().template solveInPlace<Eigen::OnTheRight>(X);
  }
}

/// The lower triangle of A <- that of its Cholesky factor. Returns LAPACK's info.
template <class Scalar>
int potrf(int n, Scalar* a, int lda) {
  Strided<Scalar> A(a, n, n, Eigen::OuterStride<>(lda));
  const Eigen::LLT<Matrix<Scalar>, Eigen::Lower> factor(A);
  if (factor.info() != Eigen::Success) return 1;
  A.template triangularView<Eigen::Lower>() = factor.matrixLLT();
  return 0;
}

/// The lower triangle of A, a Cholesky factor L <- that of (L L')^-1.
template <class Scalar>
void potri(int n, Scalar* a, int lda) {
  Strided<Scalar> A(a, n, n, Eigen::OuterStride<>(lda));
  Matrix<Scalar> inverse = Matrix<Scalar>::Identity(n, n);
  A.template triangularView<Eigen::Lower>().solveInPlace(inverse);
  const Matrix<Scalar> product = inverse.transpose() * inverse;
  A.template triangularView<Eigen::Lower>() = product;
}

/// A, of which the lower triangle counts <- its eigenvectors; values ascend. Needs no workspace,
/// and says so where it is asked for its size (-1).
template <class Scalar>
int syevd(int n, Scalar* a, int lda, Scalar* values, Scalar* work, int work_size, int* whole) {
  if (work_size == -1) {
    *work = Scalar(1);
    *whole = 1;
    return 0;
  }
  Strided<Scalar> A(a, n, n, Eigen::OuterStride<>(lda));
  const Eigen::SelfAdjointEigenSolver<Matrix<Scalar>> solver(A);
  if (solver.info() != Eigen::Success) return 1;
  A = solver.eigenvectors();
  Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>(values, n) = solver.eigenvalues();
  return 0;
}

}  // namespace

extern "C" {
void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n,
                 blasint k, float alpha, const float* a, blasint lda, const float* b, blasint ldb,
                 float beta, float* c, blasint ldc) {
  gemm(ta == CblasTrans, tb == CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n,
                 blasint k, double alpha, const double* a, blasint lda, const double* b,
                 blasint ldb, double beta, double* c, blasint ldc) {
  gemm(ta == CblasTrans, tb == CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_sgemv(CBLAS_ORDER, CBLAS_TRANSPOSE ta, blasint m, blasint n, float alpha, const float* a,
                 blasint lda, const float* x, blasint incx, float beta, float* y, blasint incy) {
  gemv(ta == CblasTrans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void cblas_dgemv(CBLAS_ORDER, CBLAS_TRANSPOSE ta, blasint m, blasint n, double alpha,
                 const double* a, blasint lda, const double* x, blasint incx, double beta,
                 double* y, blasint incy) {
  gemv(ta == CblasTrans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void cblas_ssyrk(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE ta, blasint n, blasint k, float alpha,
                 const float* a, blasint lda, float beta, float* c, blasint ldc) {
  syrk(ta == CblasTrans, n, k, alpha, a, lda, beta, c, ldc);
}
void cblas_dsyrk(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE ta, blasint n, blasint k, double alpha,
                 const double* a, blasint lda, double beta, double* c, blasint ldc) {
  syrk(ta == CblasTrans, n, k, alpha, a, lda, beta, c, ldc);
}
void cblas_strsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE op, CBLAS_DIAG, blasint m,
                 blasint n, float alpha, const float* l, blasint ldl, float* x, blasint ldx) {
  trsm(op == CblasTrans, m, n, alpha, l, ldl, x, ldx);
}
void cblas_dtrsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE op, CBLAS_DIAG, blasint m,
                 blasint n, double alpha, const double* l, blasint ldl, double* x, blasint ldx) {
  trsm(op == CblasTrans, m, n, alpha, l, ldl, x, ldx);
}
void spotrf_(const char*, const blasint* n, float* a, const blasint* lda, blasint* info) {
  *info = potrf(*n, a, *lda);
}
void dpotrf_(const char*, const blasint* n, double* a, const blasint* lda, blasint* info) {
  *info = potrf(*n, a, *lda);
}
void spotri_(const char*, const blasint* n, float* a, const blasint* lda, blasint* info) {
  potri(*n, a, *lda);
  *info = 0;
}
void dpotri_(const char*, const blasint* n, double* a, const blasint* lda, blasint* info) {
  potri(*n, a, *lda);
  *info = 0;
}
void ssyevd_(const char*, const char*, const blasint* n, float* a, const blasint* lda,
             float* values, float* work, const blasint* work_size, blasint* whole, const blasint*,
             blasint* info) {
  *info = syevd(*n, a, *lda, values, work, *work_size, whole);
}
void dsyevd_(const char*, const char*, const blasint* n, double* a, const blasint* lda,
             double* values, double* work, const blasint* work_size, blasint* whole, const blasint*,
             blasint* info) {
  *info = syevd(*n, a, *lda, values, work, *work_size, whole);
}
}

namespace symport {

// There is no OpenBLAS to keep to one thread, and none that maps buffers.
void prepare_blas() {}
void require_blas_buffer() {}

}  // namespace symport
