// SPDX-License-Identifier: MIT
#include "symport/symmetries/low_rank_element.hpp"

#include <Eigen/LU>

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// Smallest reciprocal condition number of I + scale V'U that counts as invertible.
template <Real Scalar>
constexpr double smallest_rcond = std::same_as<Scalar, double> ? 1e-13 : 1e-6;

}  // namespace

template <Real Scalar>
LowRankMatrix<Scalar>::LowRankMatrix(MatrixOf<Scalar> U, MatrixOf<Scalar> V)
    : U_(std::move(U)), V_(std::move(V)) {
  if (U_.cols() >= U_.rows()) {
    MatrixOf<Scalar> T(U_.rows(), U_.rows());
    multiply<Scalar>(1, false, U_, true, V_, 0, T);
    U_ = std::move(T);
    V_.resize(0, 0);
    inner_ = U_.template cast<double>();
  } else {
    // Columns of V get length 1, so that the condition of I + V'U tells of g, not of their units.
    for (Index j = 0; j < rank(); ++j) {
      const Scalar length = V_.col(j).stableNorm();
      if (!(length > Scalar(0))) continue;
      V_.col(j) /= length;
      U_.col(j) *= length;
    }
    MatrixOf<Scalar> product(rank(), rank());
    multiply<Scalar>(1, true, V_, false, U_, 0, product);
    inner_ = product.template cast<double>();
  }
}

template <Real Scalar>
double LowRankMatrix<Scalar>::squared_norm() const {
  if (dense()) return U_.template cast<double>().squaredNorm();
  // |U V'|^2 = <U'U, V'V>
  MatrixOf<Scalar> left(rank(), rank()), right(rank(), rank());
  multiply<Scalar>(1, true, U_, false, U_, 0, left);
  multiply<Scalar>(1, true, V_, false, V_, 0, right);
  return left.template cast<double>().cwiseProduct(right.template cast<double>()).sum();
}

template <Real Scalar>
MatrixOf<Scalar> LowRankMatrix<Scalar>::to_dense() const {
  return dense() ? U_ : MatrixOf<Scalar>(U_ * V_.transpose());
}

template <Real Scalar>
LowRankElement<Scalar>::LowRankElement(std::shared_ptr<const LowRankMatrix<Scalar>> T, double scale)
    : T_(std::move(T)), scale_(static_cast<Scalar>(scale)) {
  const Matrix inner = Matrix::Identity(rank(), rank()) + scale * T_->inner();
  invertible_ = inner.allFinite();
  if (!invertible_) return;
  const Eigen::PartialPivLU<Matrix> lu(inner);
  invertible_ = lu.rcond() > smallest_rcond<Scalar>;
  if (invertible_) core_ = lu.inverse().template cast<Scalar>();
}

template <Real Scalar>
void LowRankElement<Scalar>::apply(MatrixOut<Scalar> X) const {
  if (identity()) return;
  if (T_->dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(scale_, false, T_->U(), false, old, 1, X);
    return;
  }
  MatrixOf<Scalar> inner(rank(), X.cols());
  multiply<Scalar>(1, true, T_->V(), false, X, 0, inner);
  multiply<Scalar>(scale_, false, T_->U(), false, inner, 1, X);
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_transposed(MatrixOut<Scalar> X) const {
  if (identity()) return;
  if (T_->dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(scale_, true, T_->U(), false, old, 1, X);
    return;
  }
  MatrixOf<Scalar> inner(rank(), X.cols());
  multiply<Scalar>(1, true, T_->U(), false, X, 0, inner);
  multiply<Scalar>(scale_, false, T_->V(), false, inner, 1, X);
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse(MatrixOut<Scalar> X) const {
  if (identity()) return;
  if (T_->dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(1, false, core_, false, old, 0, X);
    return;
  }
  MatrixOf<Scalar> inner(rank(), X.cols()), solved(rank(), X.cols());
  multiply<Scalar>(1, true, T_->V(), false, X, 0, inner);
  multiply<Scalar>(1, false, core_, false, inner, 0, solved);
  multiply<Scalar>(-scale_, false, T_->U(), false, solved, 1, X);
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse_transposed(MatrixOut<Scalar> X) const {
  if (identity()) return;
  if (T_->dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(1, true, core_, false, old, 0, X);
    return;
  }
  MatrixOf<Scalar> inner(rank(), X.cols()), solved(rank(), X.cols());
  multiply<Scalar>(1, true, T_->U(), false, X, 0, inner);
  multiply<Scalar>(1, true, core_, false, inner, 0, solved);
  multiply<Scalar>(-scale_, false, T_->V(), false, solved, 1, X);
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse_right(MatrixOut<Scalar> A) const {
  if (identity()) return;
  if (T_->dense()) {
    const MatrixOf<Scalar> old = A;
    multiply<Scalar>(1, false, old, false, core_, 0, A);
    return;
  }
  MatrixOf<Scalar> inner(A.rows(), rank()), solved(A.rows(), rank());
  multiply<Scalar>(1, false, A, false, T_->U(), 0, inner);
  multiply<Scalar>(1, false, inner, false, core_, 0, solved);
  multiply<Scalar>(-scale_, false, solved, true, T_->V(), 1, A);
}

template class LowRankMatrix<float>;
template class LowRankMatrix<double>;
template class LowRankElement<float>;
template class LowRankElement<double>;

}  // namespace symport
