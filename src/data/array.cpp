// SPDX-License-Identifier: MIT
#include "symport/data/array.hpp"

#include <stdexcept>

#include "data/array_check.hpp"

namespace symport {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f4:
      return "<f4";
    case DType::f8:
      return "<f8";
    case DType::i4:
      return "<i4";
    case DType::i8:
      return "<i8";
    case DType::u1:
      return "|u1";
  }
  return "unknown";
}

std::string shape_string(const std::vector<Index>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

template <Real Scalar>
Array to_array(const MatrixOf<Scalar>& matrix) {
  std::vector<Scalar> values(static_cast<std::size_t>(matrix.size()));
  const MatrixOf<Scalar> transposed = matrix.transpose();  // its columns are the rows
  std::copy_n(transposed.data(), values.size(), values.data());
  return {{matrix.rows(), matrix.cols()}, std::move(values), Order::c};
}

template <Real Scalar>
Array to_array(const VectorOf<Scalar>& vector) {
  return {{vector.size()}, std::vector<Scalar>(vector.begin(), vector.end()), Order::c};
}

template <Real Scalar>
MatrixOf<Scalar> to_matrix(const Array& array) {
  if (array.shape.size() != 2) {
    throw std::logic_error("to_matrix: shape " + shape_string(array.shape));
  }
  detail::require_consistent(array);
  const Index rows = array.shape[0];
  const Index cols = array.shape[1];
  const auto convert = [&](const auto& values) -> MatrixOf<Scalar> {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    using Columns = Eigen::Map<const MatrixOf<Value>>;
    if (array.order == Order::fortran) {
      return Columns(values.data(), rows, cols).template cast<Scalar>();
    }
    return Columns(values.data(), cols, rows).transpose().template cast<Scalar>();
  };
  return std::visit(convert, array.values);
}

template <Real Scalar>
VectorOf<Scalar> to_vector(const Array& array) {
  if (array.shape.size() != 1) {
    throw std::logic_error("to_vector: shape " + shape_string(array.shape));
  }
  detail::require_consistent(array);
  const auto convert = [&](const auto& values) -> VectorOf<Scalar> {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    return Eigen::Map<const VectorOf<Value>>(values.data(), array.shape[0]).template cast<Scalar>();
  };
  return std::visit(convert, array.values);
}

template Array to_array<float>(const MatrixOf<float>&);
template Array to_array<double>(const MatrixOf<double>&);
template Array to_array<float>(const VectorOf<float>&);
template Array to_array<double>(const VectorOf<double>&);
template MatrixOf<float> to_matrix<float>(const Array&);
template MatrixOf<double> to_matrix<double>(const Array&);
template VectorOf<float> to_vector<float>(const Array&);
template VectorOf<double> to_vector<double>(const Array&);

}  // namespace symport
