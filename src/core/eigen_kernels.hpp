// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

// The innermost loops of Eigen's products take one to four seconds to compile and would be compiled
// again for every object with a product. This header, which is precompiled, says that they are in
// eigen_kernels.cpp. They are never inlined, so the code is the same with and without it.
#if EIGEN_VERSION_AT_LEAST(3, 4, 0) && !EIGEN_VERSION_AT_LEAST(3, 4, 90)
#define SYMPORT_EIGEN_KERNELS

namespace symport::eigen_kernels {
template <class Scalar>
using Traits = Eigen::internal::gebp_traits<Scalar, Scalar>;
template <class Scalar, int order>
using Source = Eigen::internal::const_blas_data_mapper<Scalar, Index, order>;
template <class Scalar>
using Result =
    Eigen::internal::blas_data_mapper<Scalar, Index, Eigen::ColMajor, Eigen::Unaligned, 1>;
}  // namespace symport::eigen_kernels

namespace Eigen::internal {

// All of them for one scalar type, each after the words `how`: `extern template` or `template`.
#define SYMPORT_FOR_EIGEN_KERNELS(how, Scalar)                                                     \
  how void evaluateProductBlockingSizesHeuristic<Scalar, Scalar, 1, Index>(Index&, Index&, Index&, \
                                                                           Index);                 \
  how struct gebp_kernel<Scalar, Scalar, Index, symport::eigen_kernels::Result<Scalar>,            \
                         symport::eigen_kernels::Traits<Scalar>::mr,                               \
                         symport::eigen_kernels::Traits<Scalar>::nr, false, false>;                \
  SYMPORT_FOR_EIGEN_PACKING(how, Scalar, ColMajor)                                                 \
  SYMPORT_FOR_EIGEN_PACKING(how, Scalar, RowMajor)                                                 \
  SYMPORT_FOR_EIGEN_GEMV(how, Scalar, ColMajor, RowMajor, 0)                                       \
  SYMPORT_FOR_EIGEN_GEMV(how, Scalar, RowMajor, ColMajor, 0)                                       \
  SYMPORT_FOR_EIGEN_GEMV(how, Scalar, RowMajor, RowMajor, 1)
#define SYMPORT_FOR_EIGEN_PACKING(how, Scalar, order)                                         \
  how struct gemm_pack_lhs<Scalar, Index, symport::eigen_kernels::Source<Scalar, order>,      \
                           symport::eigen_kernels::Traits<Scalar>::mr,                        \
                           symport::eigen_kernels::Traits<Scalar>::LhsProgress,               \
                           symport::eigen_kernels::Traits<Scalar>::LhsPacket4Packing, order>; \
  how struct gemm_pack_rhs<Scalar, Index, symport::eigen_kernels::Source<Scalar, order>,      \
                           symport::eigen_kernels::Traits<Scalar>::nr, order>;
#define SYMPORT_FOR_EIGEN_GEMV(how, Scalar, order, vector_order, version)                 \
  how struct general_matrix_vector_product<                                               \
      Index, Scalar, symport::eigen_kernels::Source<Scalar, order>, order, false, Scalar, \
      symport::eigen_kernels::Source<Scalar, vector_order>, false, version>;

SYMPORT_FOR_EIGEN_KERNELS(extern template, float)
SYMPORT_FOR_EIGEN_KERNELS(extern template, double)

}  // namespace Eigen::internal

#endif
