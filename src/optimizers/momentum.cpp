// SPDX-License-Identifier: MIT
#include "symport/optimizers/momentum.hpp"

#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
Momentum<Scalar>::Momentum(const MomentumOptions& options) : options_(options) {
  require_fraction("momentum", options.momentum);
}

template <Real Scalar>
OptimizerState<Scalar> Momentum<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("velocity", StateKind::cotangent, dimension);
  return state;
}

template <Real Scalar>
void Momentum<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                              const StateRange<Scalar>& state, Out<Scalar> u) const {
  auto velocity = state[0];
  velocity = static_cast<Scalar>(options_.momentum) * velocity + gradient;
  u = static_cast<Scalar>(learning_rate) * velocity;
}

template class Momentum<float>;
template class Momentum<double>;

}  // namespace symport
