// SPDX-License-Identifier: MIT
#pragma once

/// What the library calls of the BLAS and of LAPACK, for a platform without them: declared as
/// OpenBLAS does, column-major only, defined in blas.cpp by Eigen.

using blasint = int;
enum CBLAS_ORDER { CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };
enum CBLAS_DIAG { CblasNonUnit = 131 };
enum CBLAS_SIDE { CblasRight = 142 };

extern "C" {
void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint m, blasint n, blasint k,
                 float alpha, const float* a, blasint lda, const float* b, blasint ldb, float beta,
                 float* c, blasint ldc);
void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint m, blasint n, blasint k,
                 double alpha, const double* a, blasint lda, const double* b, blasint ldb,
                 double beta, double* c, blasint ldc);
void cblas_sgemv(CBLAS_ORDER, CBLAS_TRANSPOSE, blasint m, blasint n, float alpha, const float* a,
                 blasint lda, const float* x, blasint incx, float beta, float* y, blasint incy);
void cblas_dgemv(CBLAS_ORDER, CBLAS_TRANSPOSE, blasint m, blasint n, double alpha, const double* a,
                 blasint lda, const double* x, blasint incx, double beta, double* y, blasint incy);
void cblas_ssyrk(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE, blasint n, blasint k, float alpha,
                 const float* a, blasint lda, float beta, float* c, blasint ldc);
void cblas_dsyrk(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE, blasint n, blasint k, double alpha,
                 const double* a, blasint lda, double beta, double* c, blasint ldc);
void cblas_strsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG, blasint m,
                 blasint n, float alpha, const float* l, blasint ldl, float* x, blasint ldx);
void cblas_dtrsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG, blasint m,
                 blasint n, double alpha, const double* l, blasint ldl, double* x, blasint ldx);
}
