// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// Sign flips of hidden units: row i of [W_m b_m] and column i of W_(m+1) times -1 or 1.
///
/// Valid for odd activations, sigma(-x) = -sigma(x) (linear, tanh, asinh, tanh_extended). Not bound
/// to a batch: the network's function does not change on any data. The action is
/// orthogonal, so J and Phi are the same on the whole orbit (Corollary of Prop. 5.1). Cost of one
/// action: O(parameters).
template <Real Scalar = double>
class SignFlipSymmetry final : public BasicSymmetry<Scalar> {
 public:
  std::string name() const override { return "sign_flip"; }
  bool transports(StateKind) const override { return true; }
  /// Random elements are uniform. Throws InvalidArgument when the objective has no network with a
  /// hidden layer or its activation is not odd.
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

  /// w <- signs.w with signs[m-1], entries -1 and 1, for hidden layer m. Throws InvalidArgument for
  /// an activation that it is not valid for or other entries, std::logic_error when sizes do not
  /// fit.
  static void act(const Mlp& network, const std::vector<Vector>& signs, Out<Scalar> w);
};

}  // namespace symport
