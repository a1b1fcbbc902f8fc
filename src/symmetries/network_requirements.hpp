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

/// Of a symmetry that needs the inverse of the activation; says which symmetry to take instead.
[[noreturn]] inline void refuse_without_inverse(const std::string& symmetry,
                                                const Activation& activation) {
  const std::string instead =
      activation.positively_homogeneous()
          ? "take the symmetry rescale, which needs none"
          : activation.name() +
                " has no symmetry that helps (permutation and sign_flip change no gradient norm), "
                "but level_set moves without one";
  throw InvalidArgument(
      "activation", fmt::format("the symmetry {} needs an activation with an inverse, and {} has "
                                "none: {}; activations with one: linear, leaky_relu, asinh, "
                                "tanh_extended, sigmoid_extended",
                                symmetry, activation.name(), instead));
}

}  // namespace symport
