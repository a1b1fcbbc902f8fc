// SPDX-License-Identifier: MIT
#include "symport/core/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace symport {

std::uint32_t Random::bits() {
  const std::uint64_t block = state_.position / 4;
  if (block != block_) {
    const r123::Philox4x32::ctr_type counter{{static_cast<std::uint32_t>(block),
                                              static_cast<std::uint32_t>(block >> 32),
                                              static_cast<std::uint32_t>(state_.stream),
                                              static_cast<std::uint32_t>(state_.stream >> 32)}};
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(state_.seed), static_cast<std::uint32_t>(state_.seed >> 32)}};
    const auto words = r123::Philox4x32{}(counter, key);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = words[i];
    block_ = block;
  }
  return words_[state_.position++ % 4];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5;  // 27 bits
  const std::uint64_t low = bits() >> 6;   // 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));  // 1 - uniform() is in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Index Random::below(Index n) {
  if (n < 1) throw std::logic_error("Random::below: n must be at least 1");
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t unbiased = ~std::uint64_t{0} - ~std::uint64_t{0} % range;
  for (;;) {
    const std::uint64_t high = bits();
    const std::uint64_t draw = (high << 32) | bits();
    if (draw < unbiased) return static_cast<Index>(draw % range);
  }
}

void Random::shuffle(std::vector<Index>& items) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[static_cast<std::size_t>(below(static_cast<Index>(left)))]);
  }
}

Matrix Random::normal_matrix(Index rows, Index cols) {
  Matrix m(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) m(i, j) = normal();
  return m;
}

}  // namespace symport
