// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// The network whose loss the objective is. Throws InvalidArgument when there is none.
template <Real Scalar>
const MlpObjective<Scalar>& require_mlp(const std::string& symmetry,
                                        const BasicObjective<Scalar>& objective) {
  const MlpObjective<Scalar>* mlp = objective.mlp();
  if (mlp == nullptr) {
    throw InvalidArgument("symmetry", symmetry + " on this objective",
                          symmetry + " only on a multi-layer perceptron");
  }
  return *mlp;
}

/// The hidden layers that a symmetry acts on. Throws InvalidArgument when the objective is not a
/// network's, that has no hidden layer, or w does not fit it.
template <Real Scalar>
const Mlp& require_network(const std::string& symmetry, const BasicObjective<Scalar>& objective,
                           In<Scalar> w) {
  const Mlp& network = require_mlp(symmetry, objective).network();
  if (network.layers() < 2) {
    throw InvalidArgument("layers", "a network without hidden layers",
                          "one or more for the symmetry " + symmetry);
  }
  if (w.size() != network.parameters()) {
    throw InvalidArgument("w", fmt::format("{} numbers", w.size()),
                          fmt::format("{}, the network's parameters", network.parameters()));
  }
  return network;
}

/// Throws std::logic_error unless there is one group element per hidden layer, of its width.
/// `order` tells the width that an element fits.
template <class Elements, class Order>
void require_elements(const Mlp& network, const Elements& elements, Index size,
                      const Order& order) {
  bool fits =
      size == network.parameters() && static_cast<Index>(elements.size()) == network.layers() - 1;
  for (Index m = 1; fits && m < network.layers(); ++m) {
    fits = order(elements[static_cast<std::size_t>(m - 1)]) == network.width(m);
  }
  if (!fits) {
    throw std::logic_error(
        "a symmetry of hidden units needs one element per hidden layer, of its width");
  }
}

}  // namespace symport
