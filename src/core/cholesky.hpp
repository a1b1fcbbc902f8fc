// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// A = L L' for a symmetric positive definite A, of which the lower triangle is read; L replaces
/// it, the upper triangle stays. False, and A is lost, when it is not positive definite.
template <Real Scalar>
bool cholesky(MatrixOut<Scalar> A);

/// X <- X (L L')^-1. Rows are divided among the threads of the ThreadScope.
template <Real Scalar>
void divide_by_cholesky(MatrixIn<Scalar> L, MatrixOut<Scalar> X);

/// A <- (L L')^-1, both triangles, where L is the lower triangle of A.
template <Real Scalar>
void invert_cholesky(MatrixOut<Scalar> A);

}  // namespace symport
