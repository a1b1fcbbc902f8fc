// SPDX-License-Identifier: MIT
#pragma once

#include "symmetries/low_rank_element.hpp"

namespace symport {

/// The inverse of a product G = g_k ... g_1 of low-rank elements as one, G^-1 = I - P Q', whatever
/// k is. With g^-1 = I - A V' another element makes it I - [P, A - P Q'A] [Q, V]', (G8).
template <Real Scalar>
class LowRankInverse {
 public:
  Index rank() const { return rank_; }
  /// G <- g G. The element must be in factors, not dense.
  void append(const LowRankElement<Scalar>& g);
  /// G <- I
  void clear() { rank_ = 0; }

  /// X <- G^-1 X, G^-T X
  void apply(MatrixOut<Scalar> X) const;
  void apply_transposed(MatrixOut<Scalar> X) const;
  /// A <- A G^-1
  void apply_right(MatrixOut<Scalar> A) const;

 private:
  auto P() const { return P_.leftCols(rank_); }
  auto Q() const { return Q_.leftCols(rank_); }

  MatrixOf<Scalar> P_, Q_;  ///< with room for more columns
  Index rank_ = 0;
};

}  // namespace symport
