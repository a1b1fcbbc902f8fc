// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "symmetries/linear_orbit.hpp"
#include "symmetries/slot_action.hpp"

namespace symport {

/// The orbit of any list of slots.
///
/// J comes from Gram matrices of the gradient at the start, (S4), except in tensors that have slots
/// on several axes. With G and Q = HG the gradient and its Hessian product at the current point,
/// and N(P, C) the matrix of (S5) for parameters P and covector C,
///   dJ/dT = -2 N(G, G),   dPhi/dT = -2 (N(Q, G) + N(G, Q)).          (S8)
/// Compact groups change neither.
template <Real Scalar>
class SlotOrbit final : public LinearOrbit<Scalar> {
 public:
  /// `objective` must outlive the orbit.
  SlotOrbit(std::shared_ptr<const SlotAction> action, const BasicObjective<Scalar>& objective,
            In<Scalar> start);
  /// Where the gradient at the start is known.
  SlotOrbit(std::shared_ptr<const SlotAction> action, const BasicObjective<Scalar>& objective,
            In<Scalar> start, VectorOf<Scalar> start_gradient);

  double grad_sq() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  void restart() override;
  bool randomize(Random& random, double spread) override;
  bool has_candidates() const override { return !action_->compact(); }
  /// Where there are groups GL: the two white gauges, (W6), in which all direct slots of a group
  /// together have orthonormal rows, or all dual ones, each with the best scales by (W3). The
  /// largest gradient within a bound, (F11), is then for a given bound alone.
  std::vector<Candidate> candidates(const Worth& worth) override;
  bool compact() const override { return action_->compact(); }
  double condition() const override { return action_->condition(element_); }

 private:
  void act(Out<Scalar> w) const override;
  void act_on_covector(Out<Scalar> covector) const override;
  bool act_on_squares(Out<Scalar> squares) const override;
  void pull_to_start(Out<Scalar> covector) const override;

  /// False when the element is not usable; it is then the base again.
  bool place(GroupElement g);
  bool go_to_ends(double kappa);
  /// The white gauge of direct or dual slots; nothing where none has a number in it.
  std::optional<GroupElement> white_element(bool direct) const;
  /// Base <- current <- this element, with group k of GL times its entry of c.
  bool go_scaled(GroupElement g, const Vector& c);
  /// How J and Phi depend on such c at the current point.
  ScaleModel group_scale_model();
  void need_gram_matrices();
  void add_gradient_directions(const Slope& slope);
  Vector current(const VectorOf<Scalar>& covector) const;

  std::shared_ptr<const SlotAction> action_;
  GroupElement element_, base_;
  GroupMatrices direction_;
  std::optional<double> grad_sq_;

  /// What J is made of.
  struct Energies {
    double constant = 0.0;                   ///< of what no slot covers
    std::vector<std::vector<Matrix>> grams;  ///< of each slot whose tensor is not shared
    Vector shared;                           ///< the gradient in the other tensors
  };
  std::optional<Energies> energies_;
};

}  // namespace symport
