// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "symport/core/random.hpp"
#include "symport/objectives/mlp.hpp"

namespace symport {

/// How a network's parameters are drawn, layer by layer in the order of the flat vector.
enum class Initialization {
  fan_in,  ///< weights and biases uniform in +-1/sqrt(d_(m-1)), as in PyTorch's linear layers
  unit,    ///< weights and biases uniform in [0, 1), as in the paper's regression
  he,      ///< weights normal with variance 2/d_(m-1), biases 0
  glorot,  ///< weights uniform in +-sqrt(6/(d_(m-1) + d_m)), biases 0
};

std::string_view to_string(Initialization initialization);
/// Throws InvalidArgument, listing the known names.
Initialization parse_initialization(std::string_view text);

template <Real Scalar>
VectorOf<Scalar> initialize(const Mlp& network, Initialization initialization, Random& random);

}  // namespace symport
