// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// A <- V for a symmetric A = V diag(values) V', values ascending, of which the lower triangle is
/// read. False, and A is lost, when A is not finite.
template <Real Scalar>
bool symmetric_eigenvectors(MatrixOf<Scalar>& A, VectorOf<Scalar>& values);

/// A <- V diag((max(values, 0) + epsilon * largest)^exponent) V' for a symmetric A = V diag(values)
/// V', of which the lower triangle is read; the identity where no value is above 0. Values that are
/// rounding of the largest count as such: epsilon is at least 10 times the machine's. False, and A
/// is lost, when A is not finite.
template <Real Scalar>
bool symmetric_root(double exponent, double epsilon, MatrixOf<Scalar>& A);

}  // namespace symport
