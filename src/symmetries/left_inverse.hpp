// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// Columns of h that are linearly independent, as many as there are, in ascending order; their
/// number is the numerical rank.
///
/// A column counts as dependent when the sine of its angle to the span of those chosen before is
/// below 1e-6 in double and 1e-4 in float, whatever its length. By Cholesky's method with
/// pivoting on the Gram matrix of the normalised columns, in double.
template <Real Scalar>
std::vector<Index> independent_columns(MatrixIn<Scalar> h);

/// h+ = (h'h)^-1 h' (columns of h x rows of h) with h+ h = I, (G11), by Cholesky's method in double
/// and, where that is not enough, one Newton step l <- (2I - l h) l. Nothing when the columns are
/// not linearly independent in the sense above.
template <Real Scalar>
std::optional<MatrixOf<Scalar>> left_inverse(MatrixIn<Scalar> h);

}  // namespace symport
