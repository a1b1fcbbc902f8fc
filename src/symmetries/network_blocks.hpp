// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/objectives/mlp.hpp"

namespace symport {

/// A block of a network's parameters that scales as one when the hidden layers are rescaled: the
/// weights or the biases of a layer. Those of the first layer scale alike and are one block.
struct NetworkBlock {
  Index layer = 1;
  bool weights = true, biases = false;
};

std::vector<NetworkBlock> network_blocks(const Mlp& network);

/// E of ScaleModel, (W2): W_m scales with (c_(m-1) / c_m)^2, b_m with c_m^-2. One column for every
/// hidden layer m with `scaled[m]`.
Matrix block_exponents(const std::vector<NetworkBlock>& blocks, const std::vector<bool>& scaled);

/// The block of every entry of the flat vector.
std::vector<Index> block_of_entries(const Mlp& network, const std::vector<NetworkBlock>& blocks);

}  // namespace symport
