// SPDX-License-Identifier: MIT
#pragma once

#include "symmetries/low_rank_element.hpp"

namespace symport {

struct WhiteMapOptions {
  /// lambda in units of the mean of the non-zero eigenvalues of h h'
  double damping = 0.0;
  /// lambda is at least this part of the largest one: the element has a condition of at most
  /// 1 / sqrt(floor).
  double floor = 0.0;
};

/// The floor that the precision asks for.
template <Real Scalar>
constexpr double white_floor = std::same_as<Scalar, double> ? 1e-10 : 1e-4;

/// The element of GL(d) that makes states h (d x n) white, (W1) of docs/mathematics/white_gauge.md:
///
///   g = (h h' + lambda I)^(-1/2) on the span of h, and gamma I on its complement,
///
/// gamma the geometric mean of the singular values that g has on the span. For lambda = 0, g h has
/// orthonormal columns (n <= d) or rows (n >= d). In double, from singular values or, for large
/// orders, from the smaller Gram matrix; directions that rounding alone decides count as
/// complement. h = 0: the identity.
template <Real Scalar>
LowRankElement<Scalar> white_map(MatrixIn<Scalar> h, const WhiteMapOptions& options);

}  // namespace symport
