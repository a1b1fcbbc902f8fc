// SPDX-License-Identifier: MIT
#include "symmetries/low_rank_inverse.hpp"

#include <stdexcept>

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// X <- X - A (B'X)
template <Real Scalar>
void subtract(MatrixIn<Scalar> A, MatrixIn<Scalar> B, MatrixOut<Scalar> X) {
  MatrixOf<Scalar> inner(B.cols(), X.cols());
  multiply<Scalar>(1, true, B, false, X, 0, inner);
  multiply<Scalar>(-1, false, A, false, inner, 1, X);
}

}  // namespace

template <Real Scalar>
void LowRankInverse<Scalar>::append(const LowRankElement<Scalar>& g) {
  if (g.identity()) return;
  if (g.dense()) throw std::logic_error("LowRankInverse: a dense element");
  MatrixOf<Scalar> A = g.inverse_factor();
  if (P_.rows() != A.rows()) P_.resize(A.rows(), 0), Q_.resize(A.rows(), 0);
  if (P_.cols() < rank_ + A.cols()) {
    const Index room = 2 * (rank_ + A.cols());
    P_.conservativeResize(A.rows(), room);
    Q_.conservativeResize(A.rows(), room);
  }
  if (rank_ > 0) subtract<Scalar>(P(), Q(), A);
  P_.middleCols(rank_, A.cols()) = A;
  Q_.middleCols(rank_, A.cols()) = g.V();
  rank_ += A.cols();
}

template <Real Scalar>
void LowRankInverse<Scalar>::apply(MatrixOut<Scalar> X) const {
  if (rank_ > 0) subtract<Scalar>(P(), Q(), X);
}

template <Real Scalar>
void LowRankInverse<Scalar>::apply_transposed(MatrixOut<Scalar> X) const {
  if (rank_ > 0) subtract<Scalar>(Q(), P(), X);
}

template <Real Scalar>
void LowRankInverse<Scalar>::apply_right(MatrixOut<Scalar> A) const {
  if (rank_ == 0) return;
  MatrixOf<Scalar> inner(A.rows(), rank_);
  multiply<Scalar>(1, false, A, false, P(), 0, inner);
  multiply<Scalar>(-1, false, inner, true, Q(), 1, A);
}

template class LowRankInverse<float>;
template class LowRankInverse<double>;

}  // namespace symport
