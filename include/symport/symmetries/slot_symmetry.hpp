// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symport/core/parameter_layout.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/group_element.hpp"
#include "symport/symmetries/slot_group.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

class SlotAction;

/// Any linear symmetry that does not depend on data, described by groups and the slots where they
/// act (docs/mathematics/slots.md). With one group per hidden layer of a ReLU network, for example:
///
///   SlotSymmetry<double> symmetry(objective.layout(),
///       {{GroupKind::scaling, 64, {{"W1", 0}, {"b1", 0}, {"W2", 1, Representation::dual}}}});
///
/// It obeys the group laws for every list; whether it preserves the *loss* depends on the loss.
/// `orbit` makes Noether's test, at the cost of one gradient that the orbit needs anyway, and
/// refuses where the list is not a symmetry to first order. Signs and permutations have no first
/// order: `testing::check_symmetry` tries them, and the certificate of each teleport judges them.
///
/// Domain: invertible g. Cost of one action: O(parameters) for scalings, signs and permutations, a
/// product with an n x n matrix per slot of GL and O, in double.
template <Real Scalar = double>
class SlotSymmetry final : public BasicSymmetry<Scalar> {
 public:
  /// Throws InvalidArgument when a slot is not in the layout, does not fit its group, or meets
  /// another one on the same entries of the same axis.
  SlotSymmetry(const ParameterLayout& layout, std::vector<SlotGroup> groups,
               std::string name = "slots");

  std::string name() const override { return name_; }
  /// Everything; squares of gradients only if no group is GL or O, (S3).
  bool transports(StateKind kind) const override;
  /// J on the whole orbit from one gradient and its Gram matrices, (S4). Compact groups draw their
  /// elements uniformly; scalings have independent log-normal scales, exp(spread * normal), GL has
  /// exp(spread * N) with N Gaussian of unit length over all groups. Scalings and GL have a
  /// closed-form candidate: the largest J for elements within [1/kappa, kappa], group by group with
  /// the updated gradients.
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

  const std::vector<SlotGroup>& groups() const;
  Index parameters() const;

  // The group: a product of the groups of the list.
  GroupElement identity() const;
  /// Throws std::logic_error when sizes do not fit, InvalidArgument when g is not in the group.
  GroupElement element(GroupMatrices g) const;
  /// exp(T); the identity in groups without an algebra.
  GroupElement exponential(const GroupMatrices& T) const;
  /// See `orbit`.
  GroupElement random_element(Random& random, double spread) const;
  GroupElement compose(const GroupElement& a, const GroupElement& b) const;  ///< a b: b acts first
  GroupElement inverse(const GroupElement& g) const { return {g.inverse, g.g}; }
  /// tr(S'T), half of it for O: lengths are rotation angles there.
  double inner(const GroupMatrices& S, const GroupMatrices& T) const;

  // The action.
  /// w <- g.w, (S1). The action is linear: points and tangents move alike.
  void act(const GroupElement& g, Out<Scalar> w) const;
  /// covector <- rho(g)^-T covector, (S2)
  void act_on_cotangent(const GroupElement& g, Out<Scalar> covector) const;
  /// The squares of a covector's entries, (S3). Throws InvalidArgument when a group is GL or O:
  /// there the squares of the old covector do not determine those of the new one.
  void act_on_squared_cotangent(const GroupElement& g, Out<Scalar> squares) const;
  /// The algebra element S with inner(S, T) = <covector, d/de exp(eT).w> for all T, (S5).
  GroupMatrices pull_back(In<Scalar> w, In<Scalar> covector) const;

  /// Noether's test at w, where `gradient` is dL/dw: the slope of the loss along the group, |N|
  /// over the sum of all |C|, (S6) and (S7). Zero up to rounding for a symmetry (rounding is
  /// relatively large where the gradient is small), a large fraction of 1 for a wrong list. The
  /// largest over all groups.
  double noether_residual(In<Scalar> w, In<Scalar> gradient) const;

 private:
  std::string name_;
  std::shared_ptr<const SlotAction> action_;
};

/// One group per hidden layer m of a network: row i of [W_m b_m] by g_m, column i of W_(m+1) by
/// g_m^-T. That is (R1) for scalings and (L1) for GL; which kind preserves the function depends on
/// the activation.
std::vector<SlotGroup> hidden_unit_groups(const Mlp& network, GroupKind kind);

}  // namespace symport
