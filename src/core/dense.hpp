// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

// Decompositions of small dense matrices in double, behind one door: they take seconds to compile
// and are compiled once.

/// A = V diag(values) V', values ascending. Reads the lower triangle of A.
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};
SymmetricEigen symmetric_eigen(const Matrix& A);

/// Eigenvalues, ascending, of a symmetric tridiagonal matrix; `off_diagonal` has one entry less.
Vector tridiagonal_eigenvalues(const Vector& diagonal, const Vector& off_diagonal);

/// A = U diag(values) V', thin, values descending.
struct SingularValues {
  Matrix U;
  Vector values;
  Matrix V;
};
SingularValues singular_values(const Matrix& A);

/// Largest over smallest singular value; infinity for a singular matrix.
double condition_number(const Matrix& A);

/// The solution X of A X = B for square A (LU with partial pivoting).
Matrix solve(const Matrix& A, const Matrix& B);
Matrix inverse(const Matrix& A);
double determinant(const Matrix& A);

/// Of any shape and rank (complete orthogonal decomposition).
Matrix pseudo_inverse(const Matrix& A);

/// Q of A = Q R with the diagonal of R positive, so that Q is a continuous function of A.
Matrix orthogonal_factor(const Matrix& A);

/// exp(T) by scaling and squaring.
Matrix matrix_exponential(const Matrix& T);

}  // namespace symport
