// SPDX-License-Identifier: MIT
#include "symport/optimizers/nesterov.hpp"

#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
Nesterov<Scalar>::Nesterov(const NesterovOptions& options) : options_(options) {
  require_fraction("momentum", options.momentum);
}

template <Real Scalar>
OptimizerState<Scalar> Nesterov<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("velocity", StateKind::cotangent, dimension);
  return state;
}

template <Real Scalar>
void Nesterov<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                              const StateRange<Scalar>& state, Out<Scalar> u) const {
  const auto mu = static_cast<Scalar>(options_.momentum);
  auto velocity = state[0];
  velocity = mu * velocity + gradient;
  u = static_cast<Scalar>(learning_rate) * (gradient + mu * velocity);
}

template class Nesterov<float>;
template class Nesterov<double>;

}  // namespace symport
