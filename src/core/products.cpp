// SPDX-License-Identifier: MIT
#include "core/products.hpp"

namespace symport {

template <Real Scalar>
MatrixOf<Scalar> product(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B) {
  return A * B;
}

template <Real Scalar>
MatrixOf<Scalar> transposed_product(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B) {
  return A.transpose() * B;
}

template <Real Scalar>
MatrixOf<Scalar> product_transposed(const MatrixOf<Scalar>& A, const MatrixOf<Scalar>& B) {
  return A * B.transpose();
}

template MatrixOf<float> product(const MatrixOf<float>&, const MatrixOf<float>&);
template MatrixOf<double> product(const MatrixOf<double>&, const MatrixOf<double>&);
template MatrixOf<float> transposed_product(const MatrixOf<float>&, const MatrixOf<float>&);
template MatrixOf<double> transposed_product(const MatrixOf<double>&, const MatrixOf<double>&);
template MatrixOf<float> product_transposed(const MatrixOf<float>&, const MatrixOf<float>&);
template MatrixOf<double> product_transposed(const MatrixOf<double>&, const MatrixOf<double>&);

}  // namespace symport
