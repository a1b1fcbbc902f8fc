// SPDX-License-Identifier: MIT
#include "data/array_check.hpp"

#include <cmath>
#include <stdexcept>

#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

namespace {

/// `where` gives the index of the first bad value for the message.
[[noreturn]] void not_finite(const std::string& field, double value, const std::string& where) {
  const char* kind = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  throw InvalidArgument(field, std::string(kind) + " at " + where,
                        "finite numbers in the precision of the run");
}

}  // namespace

std::optional<Index> element_count(const std::vector<Index>& shape) {
  Index product = 1;
  bool empty = false;
  for (const Index extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

void require_consistent(const Array& array) {
  const auto count =
      std::visit([](const auto& v) { return static_cast<Index>(v.size()); }, array.values);
  if (element_count(array.shape) != count) {
    throw std::logic_error("Array: shape " + shape_string(array.shape) + " with " +
                           std::to_string(count) + " values");
  }
}

template <Real Scalar>
MatrixOf<Scalar> finite_matrix(const Array& array, const std::string& field, const char* axes) {
  if (array.shape.size() != 2 || array.shape[0] < 1 || array.shape[1] < 1) {
    throw InvalidArgument(field, "shape " + shape_string(array.shape),
                          std::string("two dimensions, ") + axes + ", neither of them 0");
  }
  MatrixOf<Scalar> matrix = to_matrix<Scalar>(array);
  if (!matrix.allFinite()) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j < matrix.cols(); ++j) {
        if (!std::isfinite(matrix(i, j))) {
          not_finite(field, matrix(i, j), "[" + std::to_string(i) + ", " + std::to_string(j) + "]");
        }
      }
    }
  }
  return matrix;
}

template <Real Scalar>
VectorOf<Scalar> finite_vector(const Array& array, const std::string& field) {
  if (array.shape.size() != 1) {
    throw InvalidArgument(field, "shape " + shape_string(array.shape), "one dimension");
  }
  VectorOf<Scalar> vector = to_vector<Scalar>(array);
  for (Index i = 0; i < vector.size(); ++i) {
    if (!std::isfinite(vector(i))) not_finite(field, vector(i), "[" + std::to_string(i) + "]");
  }
  return vector;
}

template MatrixOf<float> finite_matrix<float>(const Array&, const std::string&, const char*);
template MatrixOf<double> finite_matrix<double>(const Array&, const std::string&, const char*);
template VectorOf<float> finite_vector<float>(const Array&, const std::string&);
template VectorOf<double> finite_vector<double>(const Array&, const std::string&);

}  // namespace symport::detail
