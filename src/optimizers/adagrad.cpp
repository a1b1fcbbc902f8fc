// SPDX-License-Identifier: MIT
#include "symport/optimizers/adagrad.hpp"

#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
AdaGrad<Scalar>::AdaGrad(const AdaGradOptions& options) : options_(options) {
  require_positive("epsilon", options.epsilon);
}

template <Real Scalar>
OptimizerState<Scalar> AdaGrad<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("squares", StateKind::squared_cotangent, dimension);
  return state;
}

template <Real Scalar>
void AdaGrad<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                             const StateRange<Scalar>& state, Out<Scalar> u) const {
  auto squares = state[0];
  squares.array() += gradient.array().square();
  u = static_cast<Scalar>(learning_rate) * gradient.array() /
      (squares.array().sqrt() + static_cast<Scalar>(options_.epsilon));
}

template class AdaGrad<float>;
template class AdaGrad<double>;

}  // namespace symport
