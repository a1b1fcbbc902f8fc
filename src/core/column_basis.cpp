// SPDX-License-Identifier: MIT
#include "core/column_basis.hpp"

#include <Eigen/QR>
#include <algorithm>

#include "core/dense.hpp"

namespace symport {

template <Real Scalar>
MatrixOf<Scalar> column_basis(const MatrixOf<Scalar>& A) {
  const Eigen::HouseholderQR<MatrixOf<Scalar>> qr(A);
  return qr.householderQ() * MatrixOf<Scalar>::Identity(A.rows(), std::min(A.rows(), A.cols()));
}

Matrix orthogonal_factor(const Matrix& A) {
  const Eigen::HouseholderQR<Matrix> qr(A);
  Matrix Q = qr.householderQ() * Matrix::Identity(A.rows(), std::min(A.rows(), A.cols()));
  for (Index j = 0; j < Q.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) Q.col(j) *= -1.0;
  }
  return Q;
}

template MatrixOf<float> column_basis(const MatrixOf<float>&);
template MatrixOf<double> column_basis(const MatrixOf<double>&);

}  // namespace symport
