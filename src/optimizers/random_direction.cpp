// SPDX-License-Identifier: MIT
#include "symport/optimizers/random_direction.hpp"

#include "symport/core/random.hpp"

namespace symport {

namespace {

/// Streams of their own: initialisation, searches and batches draw from lower ones.
constexpr std::uint64_t direction_streams = std::uint64_t{3} << 32;

}  // namespace

template <Real Scalar>
void RandomDirection<Scalar>::advance(In<Scalar> gradient, double learning_rate,
                                      OptimizerState<Scalar>& state, Out<Scalar> w) const {
  Random random(options_.seed, direction_streams + static_cast<std::uint64_t>(state.count));
  const Vector u = random.normal_matrix(w.size(), 1);
  const double length = learning_rate * static_cast<double>(gradient.norm());
  w -= (length / u.norm() * u).template cast<Scalar>();
}

template class RandomDirection<float>;
template class RandomDirection<double>;

}  // namespace symport
