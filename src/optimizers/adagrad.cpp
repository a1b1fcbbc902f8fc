// SPDX-License-Identifier: MIT
#include "symport/optimizers/adagrad.hpp"

#include "optimizers/in_blocks.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
AdaGrad<Scalar>::AdaGrad(const AdaGradOptions& options) : options_(options) {
  require_positive("epsilon", options.epsilon);
}

template <Real Scalar>
OptimizerState<Scalar> AdaGrad<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.second.setZero(dimension);
  return state;
}

template <Real Scalar>
void AdaGrad<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                             StateRange<Scalar> state, Out<Scalar> u) const {
  const auto rate = static_cast<Scalar>(learning_rate);
  const auto epsilon = static_cast<Scalar>(options_.epsilon);
  in_blocks(u.size(), [&](Index first, auto count) {
    const auto g = gradient.segment(first, count).array();
    auto s = state.second.segment(first, count).array();
    s += g.square();
    u.segment(first, count) = rate * g / (s.sqrt() + epsilon);
  });
}

template class AdaGrad<float>;
template class AdaGrad<double>;

}  // namespace symport
