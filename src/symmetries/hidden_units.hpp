// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symmetries/slot_orbit.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport {

/// The groups of one kind on the hidden units of a network, as an action.
inline std::shared_ptr<const SlotAction> hidden_unit_action(const Mlp& network, GroupKind kind) {
  return std::make_shared<const SlotAction>(network.layout(), hidden_unit_groups(network, kind));
}

/// Their orbit, without Noether's test: the activation has been asked.
template <Real Scalar>
std::unique_ptr<SlotOrbit<Scalar>> hidden_unit_orbit(const Mlp& network, GroupKind kind,
                                                     const BasicObjective<Scalar>& objective,
                                                     In<Scalar> w) {
  return std::make_unique<SlotOrbit<Scalar>>(hidden_unit_action(network, kind), objective, w);
}

/// w <- g.w with g[m-1] for hidden layer m. Throws as SlotSymmetry::element does.
template <Real Scalar>
void act_on_hidden_units(const Mlp& network, GroupKind kind, GroupMatrices g, Out<Scalar> w) {
  const auto action = hidden_unit_action(network, kind);
  action->apply<Scalar>(SlotAction::Part::action, action->element(std::move(g)), w);
}

}  // namespace symport
