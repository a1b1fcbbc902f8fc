// SPDX-License-Identifier: MIT
#include "symport/symmetries/slot_symmetry.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "symmetries/slot_orbit.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

using Part = SlotAction::Part;

/// Two losses that differ along the group where Noether's test says so. The residual of a
/// gradient that is all rounding, near a minimum or on a plateau, means nothing; so the slope must
/// be found again in differences of the loss, by 10 % of the group each way; nothing where it is
/// not.
template <Real Scalar>
std::optional<std::pair<double, double>> loss_changes(const SlotAction& action,
                                                      const BasicObjective<Scalar>& objective,
                                                      In<Scalar> w,
                                                      const VectorOf<Scalar>& gradient) {
  constexpr double length = 0.1;
  GroupMatrices T = action.pull_back(w.template cast<double>(), gradient.template cast<double>());
  const double slope = std::sqrt(action.inner(T, T));
  for (Matrix& t : T) t *= length / slope;
  const GroupElement there = action.exponential(T);
  const auto loss_at = [&](const GroupElement& g) {
    VectorOf<Scalar> moved = w;
    action.apply<Scalar>(Part::action, g, moved);
    return objective.value(moved);
  };
  const double above = loss_at(there), below = loss_at({there.inverse, there.g});
  const double change = std::abs(above - below);
  const double rounding =
      1000.0 * std::numeric_limits<Scalar>::epsilon() * std::max(std::abs(above), std::abs(below));
  if (!(change > 0.1 * slope * 2.0 * length && change > rounding)) return std::nullopt;
  return std::pair(below, above);
}

}  // namespace

template <Real Scalar>
SlotSymmetry<Scalar>::SlotSymmetry(const ParameterLayout& layout, std::vector<SlotGroup> groups,
                                   std::string name)
    : name_(std::move(name)),
      action_(std::make_shared<const SlotAction>(layout, std::move(groups))) {}

template <Real Scalar>
bool SlotSymmetry<Scalar>::transports(StateKind kind) const {
  return kind != StateKind::squared_cotangent || action_->monomial();
}

template <Real Scalar>
OrbitOrReason<Scalar> SlotSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                  In<Scalar> w) const {
  if (objective.dimension() != parameters() || w.size() != parameters()) {
    throw InvalidArgument("symmetry " + name_,
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}, the size of the layout", parameters()));
  }
  VectorOf<Scalar> gradient(w.size());
  objective.gradient(w, gradient);
  const double residual = noether_residual(w, gradient);
  if (residual > std::sqrt(std::numeric_limits<Scalar>::epsilon())) {
    if (const auto losses = loss_changes<Scalar>(*action_, objective, w, gradient)) {
      return OrbitOrReason<Scalar>::none(fmt::format(
          "{}: this is not a symmetry of your loss: along the group it changes from {:.6g} to "
          "{:.6g} (Noether's residual {:.2g}, which should be 0)",
          name_, losses->first, losses->second, residual));
    }
  }
  return std::make_unique<SlotOrbit<Scalar>>(action_, objective, w, std::move(gradient));
}

template <Real Scalar>
const std::vector<SlotGroup>& SlotSymmetry<Scalar>::groups() const {
  return action_->groups();
}
template <Real Scalar>
Index SlotSymmetry<Scalar>::parameters() const {
  return action_->parameters();
}
template <Real Scalar>
GroupElement SlotSymmetry<Scalar>::identity() const {
  return action_->identity();
}
template <Real Scalar>
GroupElement SlotSymmetry<Scalar>::element(GroupMatrices g) const {
  return action_->element(std::move(g));
}
template <Real Scalar>
GroupElement SlotSymmetry<Scalar>::exponential(const GroupMatrices& T) const {
  return action_->exponential(T);
}
template <Real Scalar>
GroupElement SlotSymmetry<Scalar>::random_element(Random& random, double spread) const {
  return action_->random_element(random, spread);
}
template <Real Scalar>
GroupElement SlotSymmetry<Scalar>::compose(const GroupElement& a, const GroupElement& b) const {
  return action_->compose(a, b);
}
template <Real Scalar>
double SlotSymmetry<Scalar>::inner(const GroupMatrices& S, const GroupMatrices& T) const {
  return action_->inner(S, T);
}

template <Real Scalar>
void SlotSymmetry<Scalar>::act(const GroupElement& g, Out<Scalar> w) const {
  action_->apply<Scalar>(Part::action, g, w);
}
template <Real Scalar>
void SlotSymmetry<Scalar>::act_on_cotangent(const GroupElement& g, Out<Scalar> covector) const {
  action_->apply<Scalar>(Part::cotangent, g, covector);
}
template <Real Scalar>
void SlotSymmetry<Scalar>::act_on_squared_cotangent(const GroupElement& g,
                                                    Out<Scalar> squares) const {
  if (!action_->monomial()) {
    throw InvalidArgument("squares of gradients", "a symmetry with a group GL or O",
                          "scalings, signs and permutations: elsewhere the squares of a covector "
                          "do not determine those of the moved one; keep or reset them");
  }
  action_->apply<Scalar>(Part::squares, g, squares);
}

template <Real Scalar>
GroupMatrices SlotSymmetry<Scalar>::pull_back(In<Scalar> w, In<Scalar> covector) const {
  return action_->pull_back(w.template cast<double>(), covector.template cast<double>());
}
template <Real Scalar>
double SlotSymmetry<Scalar>::noether_residual(In<Scalar> w, In<Scalar> gradient) const {
  return action_->noether_residual(w.template cast<double>(), gradient.template cast<double>());
}

std::vector<SlotGroup> hidden_unit_groups(const Mlp& network, GroupKind kind) {
  std::vector<SlotGroup> groups;
  for (Index m = 1; m < network.layers(); ++m) {
    SlotGroup& group = groups.emplace_back(SlotGroup{kind, network.width(m), {}});
    group.slots.push_back({.tensor = fmt::format("W{}", m)});
    if (network.biases()) group.slots.push_back({.tensor = fmt::format("b{}", m)});
    group.slots.push_back(
        {.tensor = fmt::format("W{}", m + 1), .axis = 1, .representation = Representation::dual});
  }
  return groups;
}

template class SlotSymmetry<float>;
template class SlotSymmetry<double>;

}  // namespace symport
