// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// Permutations of hidden units: unit i of hidden layer m becomes its unit order[i], that is row i
/// of [W_m b_m] and column i of W_(m+1) are the old ones at order[i].
///
/// Valid for every activation. Not bound to a batch: the network's function does not change on any
/// data. The action is orthogonal, so J and Phi are the same on the whole orbit (Corollary of Prop.
/// 5.1): no teleport by permutation speeds up gradient descent. It is included to show that, and
/// for aligning networks. Cost of one action: one copy of the parameters, no arithmetic.
template <Real Scalar = double>
class PermutationSymmetry final : public BasicSymmetry<Scalar> {
 public:
  std::string name() const override { return "permutation"; }
  bool transports(StateKind) const override { return true; }
  /// Random elements are uniform. Throws InvalidArgument when the objective has no network with a
  /// hidden layer.
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

  /// w <- orders.w with orders[m-1] for hidden layer m. Acting with b, then a, is acting with
  /// i -> b[a[i]]. Throws InvalidArgument for an order that is not a permutation, std::logic_error
  /// when sizes do not fit.
  static void act(const Mlp& network, const std::vector<std::vector<Index>>& orders, Out<Scalar> w);
};

}  // namespace symport
