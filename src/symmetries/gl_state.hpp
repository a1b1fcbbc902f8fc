// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// What GL(d_1) x ... x GL(d_(p-1)) acts on: weights W_m with left inverses l_m of the states h_m
/// of one batch (l_m h_m = I, first h_m+). For g_1 ... g_(p-1), with h'_m = g_m h_m, z'_m =
/// sigma^-1(h'_m), g_0 = g_p = I, z'_p = z_p:
///
///   W'_m = (W_m + (z'_m - z_m) l_(m-1)) g_(m-1)^-1          l'_m = l_m g_m^-1          (G2)
///
/// This is a group action on (W, l): the identity changes nothing, and acting with b, then a, is
/// acting with a b, (G3). The batch's outputs stay. With biases W_m, h_m and l_m are the augmented
/// ones (a column of biases, a row of ones) and g acts as diag(g, 1).
///
/// The plain version, with dense matrices; `GeneralLinearOrbit` computes the same in low-rank
/// factors.
template <Real Scalar>
class GlState {
 public:
  /// Left inverses by `left_inverse`: h_0 ... h_(p-2) must have full column rank, and the
  /// activation must be bijective (std::logic_error).
  GlState(const MlpObjective<Scalar>& objective, In<Scalar> w);

  /// `g[m-1]` acts on hidden layer m. Throws std::logic_error when an order does not fit.
  void act(const std::vector<MatrixOf<Scalar>>& g);

  /// The weights as the flat parameter vector.
  VectorOf<Scalar> parameters() const;
  const MatrixOf<Scalar>& W(Index m) const { return W_[static_cast<std::size_t>(m)]; }
  const MatrixOf<Scalar>& ell(Index m) const { return ell_[static_cast<std::size_t>(m)]; }
  const MatrixOf<Scalar>& h(Index m) const { return h_[static_cast<std::size_t>(m)]; }
  const MatrixOf<Scalar>& z(Index m) const { return z_[static_cast<std::size_t>(m)]; }

 private:
  Mlp network_;
  // Index m is layer m: W_ and z_ from 1, h_ from 0 to p-1, ell_ from 0 to p-2.
  std::vector<MatrixOf<Scalar>> W_, ell_, h_, z_;
};

}  // namespace symport
