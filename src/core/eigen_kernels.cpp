// SPDX-License-Identifier: MIT
#include "core/eigen_kernels.hpp"

#ifdef SYMPORT_EIGEN_KERNELS
namespace Eigen::internal {
SYMPORT_FOR_EIGEN_KERNELS(template, float)
SYMPORT_FOR_EIGEN_KERNELS(template, double)
}  // namespace Eigen::internal
#endif
