// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// Counter-based random numbers (Philox4x32-10; Salmon et al., 2011).
///
/// The n-th number of a stream is a function of (seed, stream, n) alone: streams of different
/// purposes never interfere, and a generator is saved and restored as three integers.
class Random {
 public:
  struct State {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint64_t position = 0;  ///< 32-bit words drawn so far
    bool operator==(const State&) const = default;
  };

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_{seed, stream, 0} {}
  explicit Random(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  std::uint32_t bits();
  /// Uniform in [0, 1), 53 random bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller, two uniforms per number, nothing cached).
  double normal();
  /// Uniform in {0, ..., n-1}, without bias. Requires n >= 1.
  Index below(Index n);
  /// Puts the items in a uniformly random order (Fisher-Yates).
  void shuffle(std::vector<Index>& items);
  /// Independent standard normal entries.
  Matrix normal_matrix(Index rows, Index cols);

 private:
  State state_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace symport
