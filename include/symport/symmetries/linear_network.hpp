// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// GL(d_1) x ... x GL(d_(p-1)) on the hidden layers of a linear network: with g_m for hidden layer
/// m,
///
///   [W_m b_m]' = g_m [W_m b_m],   W_(m+1)' = W_(m+1) g_m^-1.          (L1)
///
/// Valid only for the linear activation; for others there is `GeneralLinear`, which is bound to a
/// batch. This one is not bound to a batch: the network's function does not change on any data.
/// Domain: invertible g. Cost of one action: a product of W_m with two d x d matrices per layer, in
/// double.
///
/// Gradients move as (g_m^-T G_m, G_(m+1) g_m'): each pair of neighbours is a factor pair, and the
/// closed form within a bound is that of FactorPairSymmetry, g = P / kappa + kappa (I - P) with P
/// the projector on the positive eigenspace of G_m G_m' - W-part of G_(m+1)'G_(m+1). Its candidate
/// sweeps the layers once, bottom-up, with the updated gradients: the maximum of J within the bound
/// for one hidden layer, a good point of it for more. One gradient gives J on the whole orbit.
///
/// With G and Q = H G the gradient and its Hessian product at the current point, by layers,
///   dJ/dT_m   = 2 (G_(m+1)'G_(m+1) - G_m G_m')                                           (L3)
///   dPhi/dT_m = 2 (G_(m+1)'Q_(m+1) + Q_(m+1)'G_(m+1) - G_m Q_m' - Q_m G_m')              (L4)
/// at g_m -> exp(T_m) g_m, where layer m+1 counts without its biases. The length of T is the
/// Frobenius norm over all layers together.
template <Real Scalar = double>
class LinearNetworkSymmetry final : public BasicSymmetry<Scalar> {
 public:
  std::string name() const override { return "linear_gl"; }
  /// All except squares of gradients.
  bool transports(StateKind kind) const override { return kind != StateKind::squared_cotangent; }
  /// Random elements are exp(spread * N), N Gaussian of unit length. The condition is the largest
  /// singular value of all g_m over the smallest. Throws InvalidArgument when the objective has no
  /// network with a hidden layer or its activation is not linear.
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

  /// w <- g.w with g[m-1] for hidden layer m. Throws InvalidArgument for an activation that is not
  /// linear or a g that is not invertible, std::logic_error when sizes do not fit.
  static void act(const Mlp& network, const std::vector<Matrix>& g, Out<Scalar> w);
};

}  // namespace symport
