// SPDX-License-Identifier: MIT
#include "symport/core/gemm.hpp"

#include <cblas.h>

namespace symport {

namespace {

CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

blasint narrow(Index n) { return static_cast<blasint>(n); }

}  // namespace

template <>
void gemm<float>(bool ta, bool tb, Index m, Index n, Index k, float alpha, const float* a,
                 Index lda, const float* b, Index ldb, float beta, float* c, Index ldc) {
  if (m == 0 || n == 0) return;
  cblas_sgemm(CblasColMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda),
              b, narrow(ldb), beta, c, narrow(ldc));
}

template <>
void gemm<double>(bool ta, bool tb, Index m, Index n, Index k, double alpha, const double* a,
                  Index lda, const double* b, Index ldb, double beta, double* c, Index ldc) {
  if (m == 0 || n == 0) return;
  cblas_dgemm(CblasColMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda),
              b, narrow(ldb), beta, c, narrow(ldc));
}

void set_threads(int count) { openblas_set_num_threads(count); }
int threads() { return openblas_get_num_threads(); }

}  // namespace symport
