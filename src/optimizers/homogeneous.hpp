// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/mlp.hpp"

namespace symport {

/// Throws InvalidArgument unless positive rescaling of hidden units leaves the network's function
/// alone, which is what these optimizers are about.
inline void require_homogeneous(const Mlp& network) {
  if (!network.activation().positively_homogeneous()) {
    throw InvalidArgument("activation", network.activation().name(),
                          "relu, leaky_relu or linear: paths are products of weights only there");
  }
}

inline void require_dimension(const Mlp& network, Index dimension) {
  if (dimension != network.parameters()) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension),
                          fmt::format("{}, that of the network", network.parameters()));
  }
}

}  // namespace symport
