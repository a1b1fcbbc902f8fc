// SPDX-License-Identifier: MIT
#include "core/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
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

Matrix solve(const Matrix& A, const Matrix& B) { return A.partialPivLu().solve(B); }

Matrix inverse(const Matrix& A) { return A.partialPivLu().inverse(); }

double determinant(const Matrix& A) { return A.partialPivLu().determinant(); }

Matrix matrix_exponential(const Matrix& T) { return T.exp(); }

}  // namespace symport
