// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The element types of arrays, by their NumPy names (all little-endian). Files may hold others,
/// which become the smallest of these that has all their values: <f2 becomes <f4, |i1, <i2 and <u2
/// become <i4, <u4 and <u8 (below 2^63) become <i8, |b1 becomes |u1.
enum class DType { f4, f8, i4, i8, u1 };
/// As NumPy writes it: "<f4", "<f8", "<i4", "<i8", "|u1".
std::string_view to_string(DType dtype);

/// Which index runs fastest in memory: the last (C) or the first (Fortran).
enum class Order { c, fortran };

/// A dense array as a file holds it: any number of dimensions, values in their own type and order.
///
/// The number of values is the product of the shape; functions that take an Array throw
/// std::logic_error when it is not.
struct Array {
  /// The alternatives are in the order of DType.
  using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                              std::vector<std::int64_t>, std::vector<std::uint8_t>>;

  std::vector<Index> shape;  ///< empty: a single number
  Values values;
  Order order = Order::c;

  DType dtype() const { return static_cast<DType>(values.index()); }
  bool operator==(const Array&) const = default;
};

/// Arrays by name, as an `.npz` holds them.
using ArrayMap = std::map<std::string, Array, std::less<>>;

/// "(3, 4)", "(3,)", "()".
std::string shape_string(const std::vector<Index>& shape);

/// In C order, "<f4" from float and "<f8" from double; a vector has one dimension.
template <Real Scalar>
Array to_array(const MatrixOf<Scalar>& matrix);
template <Real Scalar>
Array to_array(const VectorOf<Scalar>& vector);

/// Any dtype and order, converted. Throws std::logic_error unless the array has two dimensions.
template <Real Scalar = double>
MatrixOf<Scalar> to_matrix(const Array& array);
/// Throws std::logic_error unless the array has one dimension.
template <Real Scalar = double>
VectorOf<Scalar> to_vector(const Array& array);

}  // namespace symport
