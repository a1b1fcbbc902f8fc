// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symport/data/array.hpp"

namespace symport::detail {

/// The product of the extents. Nothing when an extent is negative, or when the product of those
/// that are not zero does not fit an Index.
std::optional<Index> element_count(const std::vector<Index>& shape);

/// Throws std::logic_error when the number of values is not the product of the shape.
void require_consistent(const Array& array);

/// A matrix of finite values with at least one row and one column, else InvalidArgument. `axes`
/// names them, as in "out x in".
template <Real Scalar>
MatrixOf<Scalar> finite_matrix(const Array& array, const std::string& field, const char* axes);
/// A vector of finite values.
template <Real Scalar>
VectorOf<Scalar> finite_vector(const Array& array, const std::string& field);

}  // namespace symport::detail
