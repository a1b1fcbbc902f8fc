// SPDX-License-Identifier: MIT
#include "symport/optimizers/rmsprop.hpp"

#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
RmsProp<Scalar>::RmsProp(const RmsPropOptions& options) : options_(options) {
  require_fraction("decay", options.decay);
  require_positive("epsilon", options.epsilon);
}

template <Real Scalar>
OptimizerState<Scalar> RmsProp<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("squares", StateKind::squared_cotangent, dimension);
  return state;
}

template <Real Scalar>
void RmsProp<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                             const StateRange<Scalar>& state, Out<Scalar> u) const {
  const auto rho = static_cast<Scalar>(options_.decay);
  auto squares = state[0];
  squares = rho * squares.array() + (1 - rho) * gradient.array().square();
  u = static_cast<Scalar>(learning_rate) * gradient.array() /
      (squares.array().sqrt() + static_cast<Scalar>(options_.epsilon));
}

template class RmsProp<float>;
template class RmsProp<double>;

}  // namespace symport
