// SPDX-License-Identifier: MIT
#include "support/unpack.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t largest, unsigned int seed) {
  using namespace symport::fuzz;
  return mutate_inside(data, size, largest, seed, mutate_npz);
}
