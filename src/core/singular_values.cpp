// SPDX-License-Identifier: MIT
#include <Eigen/QR>
#include <Eigen/SVD>
#include <limits>

#include "core/dense.hpp"

namespace symport {

SingularValues singular_values(const Matrix& A) {
  const Eigen::BDCSVD<Matrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

double condition_number(const Matrix& A) {
  if (A.size() == 0) return 1.0;
  const Vector values = Eigen::BDCSVD<Matrix>(A).singularValues();
  const double smallest = values[values.size() - 1];
  return smallest > 0.0 ? values[0] / smallest : std::numeric_limits<double>::infinity();
}

Matrix pseudo_inverse(const Matrix& A) {
  return A.completeOrthogonalDecomposition().pseudoInverse();
}

}  // namespace symport
