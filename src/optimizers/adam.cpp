// SPDX-License-Identifier: MIT
#include "symport/optimizers/adam.hpp"

#include "optimizers/adam_moments.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
Adam<Scalar>::Adam(const AdamOptions& options) : options_(options) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_positive("epsilon", options.epsilon);
}

template <Real Scalar>
OptimizerState<Scalar> Adam<Scalar>::init(Index dimension) const {
  return adam_state<Scalar>(dimension);
}

template <Real Scalar>
void Adam<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                          const StateRange<Scalar>& state, Out<Scalar> u) const {
  adam_direction<Scalar>(gradient, options_.beta1, options_.beta2, options_.epsilon, learning_rate,
                         state, u);
}

template <Real Scalar>
void Adam<Scalar>::bound_moments(const StateRange<Scalar>& state) const {
  bound_adam_moments<Scalar>(options_.beta1, options_.beta2, state);
}

template class Adam<float>;
template class Adam<double>;

}  // namespace symport
