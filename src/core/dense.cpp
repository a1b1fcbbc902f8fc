// SPDX-License-Identifier: MIT
#include "core/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

namespace symport {

SymmetricEigen symmetric_eigen(const Matrix& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vector tridiagonal_eigenvalues(const Vector& diagonal, const Vector& off_diagonal) {
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  solver.computeFromTridiagonal(diagonal, off_diagonal, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

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

Matrix solve(const Matrix& A, const Matrix& B) { return A.partialPivLu().solve(B); }

Matrix inverse(const Matrix& A) { return A.partialPivLu().inverse(); }

double determinant(const Matrix& A) { return A.partialPivLu().determinant(); }

Matrix pseudo_inverse(const Matrix& A) {
  return A.completeOrthogonalDecomposition().pseudoInverse();
}

Matrix orthogonal_factor(const Matrix& A) {
  const Eigen::HouseholderQR<Matrix> qr(A);
  Matrix Q = qr.householderQ() * Matrix::Identity(A.rows(), std::min(A.rows(), A.cols()));
  for (Index j = 0; j < Q.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) Q.col(j) *= -1.0;
  }
  return Q;
}

Matrix matrix_exponential(const Matrix& T) { return T.exp(); }

}  // namespace symport
