// SPDX-License-Identifier: MIT
#include "symmetries/low_rank_element.hpp"

#include <cmath>

#include "core/column_basis.hpp"
#include "core/dense.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/random.hpp"

namespace symport {

namespace {

/// Largest condition number of I + scale V'U at which it counts as invertible.
template <Real Scalar>
constexpr double largest_condition = std::same_as<Scalar, double> ? 1e13 : 1e6;

}  // namespace

template <Real Scalar>
LowRankMatrix<Scalar>::LowRankMatrix(MatrixOf<Scalar> U, MatrixOf<Scalar> V, Index max_rank)
    : U_(std::move(U)), V_(std::move(V)) {
  if (max_rank > 0 && U_.cols() > 2 * max_rank && max_rank < U_.rows()) truncate(max_rank);
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
void LowRankMatrix<Scalar>::truncate(Index rank) {
  // (G10): Q spans T'(U G) = V U'U G for random signs G, and T becomes T Q Q'.
  Random random(0);
  MatrixOf<Scalar> G(U_.cols(), rank), left(U_.rows(), rank), rows(U_.rows(), rank);
  for (Index i = 0; i < G.size();) {
    std::uint32_t signs = random.bits();
    for (int bit = 0; bit < 32 && i < G.size(); ++bit, signs >>= 1) {
      G.data()[i++] = signs % 2 == 0 ? 1 : -1;
    }
  }
  multiply<Scalar>(1, false, U_, false, G, 0, left);
  const Scalar size = left.cwiseAbs().maxCoeff();
  if (size > Scalar(0)) left /= size;
  multiply<Scalar>(1, true, U_, false, left, 0, G);
  multiply<Scalar>(1, false, V_, false, G, 0, rows);
  const MatrixOf<Scalar> Q = column_basis(rows);
  multiply<Scalar>(1, true, V_, false, Q, 0, G);
  multiply<Scalar>(1, false, U_, false, G, 0, left);
  U_ = std::move(left);
  V_ = Q;
}

template <Real Scalar>
double LowRankMatrix<Scalar>::squared_norm() const {
  if (dense()) return U_.template cast<double>().squaredNorm();
  // |U V'|^2 = <U'U, V'V>
  MatrixOf<Scalar> left(rank(), rank()), right(rank(), rank());
  gram<Scalar>(U_, left);
  gram<Scalar>(V_, right);
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
  const Matrix inverted = inverse(inner);
  const auto norm = [](const Matrix& A) { return A.cwiseAbs().colwise().sum().maxCoeff(); };
  invertible_ = inverted.allFinite() && norm(inner) * norm(inverted) < largest_condition<Scalar>;
  if (invertible_) core_ = inverted.template cast<Scalar>();
}

template <Real Scalar>
MatrixOf<Scalar> LowRankElement<Scalar>::inverse_factor() const {
  MatrixOf<Scalar> A(T_->order(), rank());
  multiply<Scalar>(scale_, false, T_->U(), false, core_, 0, A);
  return A;
}

template <Real Scalar>
LowRankElement<Scalar> LowRankElement<Scalar>::times(double f) const {
  LowRankElement product = *this;
  product.factor_ *= static_cast<Scalar>(f);
  product.invertible_ = product.invertible_ && std::isnormal(product.factor_);
  return product;
}

template <Real Scalar>
void LowRankElement<Scalar>::apply(MatrixOut<Scalar> X) const {
  if (dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(scale_, false, T_->U(), false, old, 1, X);
  } else if (T_) {
    MatrixOf<Scalar> inner(rank(), X.cols());
    multiply<Scalar>(1, true, T_->V(), false, X, 0, inner);
    multiply<Scalar>(scale_, false, T_->U(), false, inner, 1, X);
  }
  if (factor_ != Scalar(1)) X *= factor_;
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_transposed(MatrixOut<Scalar> X) const {
  if (dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(scale_, true, T_->U(), false, old, 1, X);
  } else if (T_) {
    MatrixOf<Scalar> inner(rank(), X.cols());
    multiply<Scalar>(1, true, T_->U(), false, X, 0, inner);
    multiply<Scalar>(scale_, false, T_->V(), false, inner, 1, X);
  }
  if (factor_ != Scalar(1)) X *= factor_;
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse(MatrixOut<Scalar> X) const {
  if (dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(1, false, core_, false, old, 0, X);
  } else if (T_) {
    MatrixOf<Scalar> inner(rank(), X.cols()), solved(rank(), X.cols());
    multiply<Scalar>(1, true, T_->V(), false, X, 0, inner);
    multiply<Scalar>(1, false, core_, false, inner, 0, solved);
    multiply<Scalar>(-scale_, false, T_->U(), false, solved, 1, X);
  }
  if (factor_ != Scalar(1)) X /= factor_;
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse_transposed(MatrixOut<Scalar> X) const {
  if (dense()) {
    const MatrixOf<Scalar> old = X;
    multiply<Scalar>(1, true, core_, false, old, 0, X);
  } else if (T_) {
    MatrixOf<Scalar> inner(rank(), X.cols()), solved(rank(), X.cols());
    multiply<Scalar>(1, true, T_->U(), false, X, 0, inner);
    multiply<Scalar>(1, true, core_, false, inner, 0, solved);
    multiply<Scalar>(-scale_, false, T_->V(), false, solved, 1, X);
  }
  if (factor_ != Scalar(1)) X /= factor_;
}

template <Real Scalar>
void LowRankElement<Scalar>::apply_inverse_right(MatrixOut<Scalar> A) const {
  if (dense()) {
    const MatrixOf<Scalar> old = A;
    multiply<Scalar>(1, false, old, false, core_, 0, A);
  } else if (T_) {
    MatrixOf<Scalar> inner(A.rows(), rank()), solved(A.rows(), rank());
    multiply<Scalar>(1, false, A, false, T_->U(), 0, inner);
    multiply<Scalar>(1, false, inner, false, core_, 0, solved);
    multiply<Scalar>(-scale_, false, solved, true, T_->V(), 1, A);
  }
  if (factor_ != Scalar(1)) A /= factor_;
}

template class LowRankMatrix<float>;
template class LowRankMatrix<double>;
template class LowRankElement<float>;
template class LowRankElement<double>;

}  // namespace symport
