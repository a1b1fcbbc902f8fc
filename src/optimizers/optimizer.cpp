// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer.hpp"

namespace symport {

template <Real Scalar>
StepOutcome FirstOrderOptimizer<Scalar>::step(const BasicObjective<Scalar>&, double,
                                              In<Scalar> gradient, double learning_rate,
                                              OptimizerState<Scalar>& state, Out<Scalar> w) const {
  if (state.work.size() != w.size()) state.work.resize(w.size());
  update(w, gradient, learning_rate, state, state.work);
  w -= state.work;
  return {true, learning_rate, 0.0};
}

template <Real Scalar>
void FirstOrderOptimizer<Scalar>::preview(const BasicObjective<Scalar>&, In<Scalar> w,
                                          In<Scalar> gradient, double learning_rate,
                                          const OptimizerState<Scalar>& state,
                                          Out<Scalar> u) const {
  OptimizerState<Scalar> copy = state;
  update(w, gradient, learning_rate, copy, u);
}

template class FirstOrderOptimizer<float>;
template class FirstOrderOptimizer<double>;

}  // namespace symport
