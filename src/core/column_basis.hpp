// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// Orthonormal columns that span those of A: the first ones of Q in A = Q R (Householder).
template <Real Scalar>
MatrixOf<Scalar> column_basis(const MatrixOf<Scalar>& A);

}  // namespace symport
