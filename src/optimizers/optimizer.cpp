// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer.hpp"

#include <algorithm>
#include <array>

namespace symport {

template <Real Scalar>
void FirstOrderOptimizer<Scalar>::step_range(Index first, In<Scalar> gradient, double learning_rate,
                                             OptimizerState<Scalar>& state, Out<Scalar> w) const {
  std::array<Scalar, 4096> buffer;  // stays in the cache
  for (Index done = 0; done < gradient.size();) {
    const Index count = std::min(static_cast<Index>(buffer.size()), gradient.size() - done);
    Eigen::Map<VectorOf<Scalar>> u(buffer.data(), count);
    auto part = w.segment(first + done, count);
    update(part, gradient.segment(done, count), learning_rate,
           StateRange<Scalar>(state, first + done, count), u);
    part -= u;
    done += count;
  }
}

template <Real Scalar>
StepOutcome FirstOrderOptimizer<Scalar>::step(const BasicObjective<Scalar>&, double,
                                              In<Scalar> gradient, double learning_rate,
                                              OptimizerState<Scalar>& state, Out<Scalar> w) const {
  step_range(0, gradient, learning_rate, state, w);
  ++state.count;
  return {true, learning_rate, 0.0};
}

template <Real Scalar>
void FirstOrderOptimizer<Scalar>::preview(const BasicObjective<Scalar>&, In<Scalar> w,
                                          In<Scalar> gradient, double learning_rate,
                                          const OptimizerState<Scalar>& state,
                                          Out<Scalar> u) const {
  OptimizerState<Scalar> copy = state;
  update(w, gradient, learning_rate, StateRange<Scalar>(copy, 0, w.size()), u);
}

template class FirstOrderOptimizer<float>;
template class FirstOrderOptimizer<double>;

}  // namespace symport
