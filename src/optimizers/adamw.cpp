// SPDX-License-Identifier: MIT
#include "symport/optimizers/adamw.hpp"

#include "optimizers/adam_moments.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
AdamW<Scalar>::AdamW(const AdamWOptions& options) : options_(options) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_positive("epsilon", options.epsilon);
  require_not_negative("weight_decay", options.weight_decay);
}

template <Real Scalar>
OptimizerState<Scalar> AdamW<Scalar>::init(Index dimension) const {
  return adam_state<Scalar>(dimension);
}

template <Real Scalar>
void AdamW<Scalar>::update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
                           const StateRange<Scalar>& state, Out<Scalar> u) const {
  adam_direction<Scalar>(gradient, options_.beta1, options_.beta2, options_.epsilon, learning_rate,
                         state, u);
  u += static_cast<Scalar>(learning_rate * options_.weight_decay) * w;
}

template <Real Scalar>
void AdamW<Scalar>::bound_moments(const StateRange<Scalar>& state) const {
  bound_adam_moments<Scalar>(options_.beta1, options_.beta2, state);
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace symport
