// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/core/types.hpp"

namespace symport {

/// A d x d matrix T = U V' in factors of rank r < d. Where r would reach d, T itself takes U's
/// place and V is empty, which stands for the identity.
template <Real Scalar>
class LowRankMatrix {
 public:
  /// T = U V', with U and V d x r.
  ///
  /// Where r exceeds twice `max_rank` (0: no limit), T is the part U V' Q Q' of that in `max_rank`
  /// leading directions Q of its row space, found by one subspace iteration (Halko, Martinsson and
  /// Tropp, 2011) from a fixed random start, (G10). It is an orthogonal projection: for a gradient
  /// U V', T is the gradient of the function restricted to that subspace.
  LowRankMatrix(MatrixOf<Scalar> U, MatrixOf<Scalar> V, Index max_rank = 0);

  Index order() const { return U_.rows(); }
  Index rank() const { return U_.cols(); }
  /// T itself is stored.
  bool dense() const { return V_.size() == 0; }
  const MatrixOf<Scalar>& U() const { return U_; }
  const MatrixOf<Scalar>& V() const { return V_; }
  /// V'U (r x r), in double.
  const Matrix& inner() const { return inner_; }
  /// |T|^2 (Frobenius), without forming T.
  double squared_norm() const;
  MatrixOf<Scalar> to_dense() const;

 private:
  void truncate(Index rank);

  MatrixOf<Scalar> U_, V_;
  Matrix inner_;
};

/// The element g = f (I + scale U V') of GL(d), f > 0, with its exact inverse (Woodbury), (G7),
/// g^-1 = (I - scale U (I + scale V'U)^-1 V') / f. The r x r inverse is computed in double.
///
/// A default-constructed element is the identity of any order.
template <Real Scalar>
class LowRankElement {
 public:
  LowRankElement() = default;
  LowRankElement(std::shared_ptr<const LowRankMatrix<Scalar>> T, double scale);

  /// f g
  LowRankElement times(double f) const;

  bool identity() const { return !T_ && factor_ == Scalar(1); }
  /// False when g is singular to working precision; the element must then not be used.
  bool invertible() const { return invertible_; }
  Index rank() const { return T_ ? T_->rank() : 0; }
  bool dense() const { return T_ && T_->dense(); }
  /// f = 1: g is I and something of low rank.
  bool near_identity() const { return factor_ == Scalar(1); }
  /// A and V of g^-1 = I - A V', unless the element is dense, the identity, or f is not 1.
  MatrixOf<Scalar> inverse_factor() const;
  const MatrixOf<Scalar>& V() const { return T_->V(); }

  /// X <- g X, g' X, g^-1 X, g^-T X.
  void apply(MatrixOut<Scalar> X) const;
  void apply_transposed(MatrixOut<Scalar> X) const;
  void apply_inverse(MatrixOut<Scalar> X) const;
  void apply_inverse_transposed(MatrixOut<Scalar> X) const;
  /// A <- A g^-1
  void apply_inverse_right(MatrixOut<Scalar> A) const;

 private:
  std::shared_ptr<const LowRankMatrix<Scalar>> T_;
  Scalar scale_ = 0;
  Scalar factor_ = 1;      ///< f
  MatrixOf<Scalar> core_;  ///< (I + scale V'U)^-1; for a dense T it is g^-1
  bool invertible_ = true;
};

}  // namespace symport
