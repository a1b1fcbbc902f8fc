// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// Positive rescaling of hidden units: with s_i > 0 for unit i of hidden layer m, row i of [W_m
/// b_m] times s_i and column i of W_(m+1) divided by s_i.
///
/// Valid for activations with sigma(s x) = s sigma(x) for s > 0 (linear, leaky_relu, relu). Not
/// bound to a batch: the network's function does not change on any data. Cost of one action:
/// O(parameters).
///
/// Gradients move as row i of G_m divided by s_i, column i of G_(m+1) times s_i. So with r_i, c_i
/// the squared norms of these the unit contributes r_i / s_i^2 + c_i s_i^2 to J: unbounded, and
/// over [1/kappa, kappa] largest at the end kappa where c_i >= r_i, otherwise at 1/kappa. Its
/// candidate sweeps the layers once, bottom-up, with the updated gradients: the maximum of J within
/// the bound for one hidden layer, a good point of it for more. One gradient gives J on the whole
/// orbit at O(parameters) arithmetic per point, less those of the first and last layer; Phi at a
/// point costs at most two products of the batch with each of W_2 ... W_p and none with W_1.
///
/// The algebra is log s, with the Euclidean length. With v = (A'A)^-1 dL/dw and Hv its Hessian
/// product, both at the start (see LinearOrbit),
///   dJ/dlog s_i   = 2 (c_i s_i^2 - r_i / s_i^2)                                              (R5)
///   dPhi/dlog s_i = 4 (<column i of v_(m+1), of Hv_(m+1)> - <row i of v_m, of Hv_m>)         (R6)
/// (docs/mathematics/networks.md).
template <Real Scalar = double>
class PositiveScalingSymmetry final : public BasicSymmetry<Scalar> {
 public:
  std::string name() const override { return "rescale"; }
  bool transports(StateKind) const override { return true; }
  /// Random elements have independent log-normal scales, exp(spread * normal): the random neural
  /// teleportation of Armenta et al. The condition is the largest of all scales over the smallest.
  /// Throws InvalidArgument when the objective has no network with a hidden layer or its activation
  /// is not positively homogeneous.
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

  /// w <- s.w with s = scales[m-1] for hidden layer m. Throws InvalidArgument for an activation
  /// that it is not valid for or a scale that is not finite and > 0, std::logic_error when sizes do
  /// not fit.
  static void act(const Mlp& network, const std::vector<Vector>& scales, Out<Scalar> w);
};

}  // namespace symport
