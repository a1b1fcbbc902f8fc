// SPDX-License-Identifier: MIT
#include "symport/optimizers/rmsprop.hpp"

#include "optimizers/in_blocks.hpp"
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
  state.second.setZero(dimension);
  return state;
}

template <Real Scalar>
void RmsProp<Scalar>::update(In<Scalar>, In<Scalar> gradient, double learning_rate,
                             StateRange<Scalar> state, Out<Scalar> u) const {
  const auto rho = static_cast<Scalar>(options_.decay), rate = static_cast<Scalar>(learning_rate);
  const auto epsilon = static_cast<Scalar>(options_.epsilon);
  in_blocks(u.size(), [&](Index first, auto count) {
    const auto g = gradient.segment(first, count).array();
    auto s = state.second.segment(first, count).array();
    s = rho * s + (1 - rho) * g.square();
    u.segment(first, count) = rate * g / (s.sqrt() + epsilon);
  });
}

template class RmsProp<float>;
template class RmsProp<double>;

}  // namespace symport
