// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

// Products of whole matrices by Eigen, compiled once: every other pair of types in A * B takes half
// a second to compile. Where time counts, `multiply` calls the BLAS.

/// A B
template <Real Scalar>
MatrixOf<Scalar> product(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B);
/// A' B
template <Real Scalar>
MatrixOf<Scalar> transposed_product(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B);
/// A B'
template <Real Scalar>
MatrixOf<Scalar> product_transposed(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B);

}  // namespace symport
