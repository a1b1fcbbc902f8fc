// SPDX-License-Identifier: MIT
#include "symmetries/network_blocks.hpp"

namespace symport {

std::vector<NetworkBlock> network_blocks(const Mlp& network) {
  std::vector<NetworkBlock> blocks{{1, true, network.biases()}};
  for (Index m = 2; m <= network.layers(); ++m) {
    blocks.push_back({m, true, false});
    if (network.biases()) blocks.push_back({m, false, true});
  }
  return blocks;
}

Matrix block_exponents(const std::vector<NetworkBlock>& blocks, const std::vector<bool>& scaled) {
  std::vector<Index> column(scaled.size() + 1, -1);
  Index scales = 0;
  for (std::size_t m = 0; m < scaled.size(); ++m) {
    if (scaled[m]) column[m] = scales++;
  }
  Matrix exponents = Matrix::Zero(static_cast<Index>(blocks.size()), scales);
  for (Index a = 0; a < exponents.rows(); ++a) {
    const NetworkBlock& block = blocks[static_cast<std::size_t>(a)];
    const Index here = column[static_cast<std::size_t>(block.layer)];
    const Index below = column[static_cast<std::size_t>(block.layer - 1)];
    if (here >= 0) exponents(a, here) -= 2.0;
    if (block.weights && below >= 0) exponents(a, below) += 2.0;
  }
  return exponents;
}

std::vector<Index> block_of_entries(const Mlp& network, const std::vector<NetworkBlock>& blocks) {
  Vector block = Vector::Zero(network.parameters());
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    const Index m = blocks[a].layer, columns = network.width(m - 1);
    auto entries = network.augmented(m, block.data());
    if (blocks[a].weights) entries.leftCols(columns).setConstant(static_cast<double>(a));
    if (blocks[a].biases) entries.rightCols(1).setConstant(static_cast<double>(a));
  }
  return {block.begin(), block.end()};
}

}  // namespace symport
