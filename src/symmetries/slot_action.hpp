// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symmetries/slot_place.hpp"
#include "symport/core/random.hpp"
#include "symport/symmetries/group_element.hpp"

namespace symport {

/// A list of groups with their slots, placed in the flat vector: the group, its action and its
/// algebra, for either precision. SlotSymmetry is its public face.
class SlotAction {
 public:
  SlotAction(const ParameterLayout& layout, std::vector<SlotGroup> groups);

  Index parameters() const { return parameters_; }
  const std::vector<SlotGroup>& groups() const { return groups_; }
  /// Where the slots of group k are.
  const std::vector<SlotPlace>& places(std::size_t k) const { return places_[k]; }
  /// All groups are compact, so that the action is orthogonal.
  bool compact() const;
  /// Every row of rho has a single entry, in all groups.
  bool monomial() const;

  GroupElement identity() const;
  GroupElement element(GroupMatrices g) const;
  GroupElement compose(const GroupElement& a, const GroupElement& b) const;
  GroupElement exponential(const GroupMatrices& T) const;
  GroupElement random_element(Random& random, double spread) const;
  /// Whether the element, its inverse and the squares of its scales are numbers of `Scalar`.
  template <Real Scalar>
  bool usable(const GroupElement& g) const;
  /// The largest singular value of all groups over the smallest.
  double condition(const GroupElement& g) const;

  GroupMatrices algebra_zero() const;
  double inner(const GroupMatrices& S, const GroupMatrices& T) const;

  /// What is applied along the axis of a slot.
  enum class Part {
    action,     ///< rho, (S1)
    cotangent,  ///< rho^-T, (S2)
    squares,    ///< its entries squared, (S3); monomial actions only
    pull,       ///< (rho'rho)^-1
  };
  /// In all groups. Dense groups are applied in double in either precision.
  template <Real Scalar>
  void apply(Part part, const GroupElement& g, Out<Scalar> w) const;
  /// In one group.
  void apply(Part part, std::size_t k, const GroupElement& g, Out<double> w) const;
  /// To the tensors that have slots on more than one axis.
  void apply_to_shared(Part part, const GroupElement& g, Out<double> w) const;

  /// N of group k, (S5); its diagonal alone for scalings, (S7).
  Matrix noether(std::size_t k, In<double> w, In<double> covector) const;
  GroupMatrices pull_back(In<double> w, In<double> covector) const;
  double noether_residual(In<double> w, In<double> gradient) const;

 private:
  template <class Number>
  void apply_at(const SlotPlace& place, Part part, std::size_t k, const GroupElement& g,
                Number* w) const;
  void mark_shared(const ParameterLayout& layout);

  Index parameters_;
  std::vector<SlotGroup> groups_;
  std::vector<std::vector<SlotPlace>> places_;
};

}  // namespace symport
