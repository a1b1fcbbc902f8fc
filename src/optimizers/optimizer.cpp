// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer.hpp"

#include <algorithm>
#include <array>

namespace symport {

template <Real Scalar>
void BasicOptimizer<Scalar>::preview(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                     In<Scalar> gradient, double learning_rate,
                                     const OptimizerState<Scalar>& state, Out<Scalar> u) const {
  OptimizerState<Scalar> copy = state;
  VectorOf<Scalar> next = w;
  step(objective, objective.value(w), gradient, learning_rate, copy, next);
  u = w - next;
}

template <Real Scalar>
double BasicOptimizer<Scalar>::measure(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                       const OptimizerState<Scalar>&, Out<Scalar> gradient,
                                       StepDirection<Scalar>&) const {
  return objective.gradient(w, gradient);
}

template <Real Scalar>
StepOutcome BasicOptimizer<Scalar>::step_along(const StepDirection<Scalar>&,
                                               const BasicObjective<Scalar>& objective, double loss,
                                               In<Scalar> gradient, double learning_rate,
                                               OptimizerState<Scalar>& state, Out<Scalar> w) const {
  return step(objective, loss, gradient, learning_rate, state, w);
}

template <Real Scalar>
double BasicOptimizer<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                              double learning_rate, OptimizerState<Scalar>& state,
                                              Out<Scalar> w, double* evaluations) const {
  if (evaluations) *evaluations = 1.0;
  if (plain_gradient_step()) return objective.gradient_step(w, learning_rate);
  VectorOf<Scalar> gradient(w.size());
  const double loss = objective.gradient(w, gradient);
  step(objective, loss, gradient, learning_rate, state, w);
  return loss;
}

template <Real Scalar>
void FirstOrderOptimizer<Scalar>::step_range(Index first, In<Scalar> gradient, double learning_rate,
                                             OptimizerState<Scalar>& state, Out<Scalar> w) const {
  if (!entry_by_entry()) {
    VectorOf<Scalar> u(gradient.size());
    auto part = w.segment(first, gradient.size());
    update(part, gradient, learning_rate, StateRange<Scalar>(state, first, gradient.size()), u);
    part -= u;
    return;
  }
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

template <Real Scalar>
double FirstOrderOptimizer<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                                   double learning_rate,
                                                   OptimizerState<Scalar>& state, Out<Scalar> w,
                                                   double* evaluations) const {
  if (!entry_by_entry()) {
    return BasicOptimizer<Scalar>::minibatch_step(objective, learning_rate, state, w, evaluations);
  }
  if (evaluations) *evaluations = 1.0;
  const double loss = objective.gradient_ranges(
      w, [&](Index first, In<Scalar> range) { step_range(first, range, learning_rate, state, w); });
  ++state.count;
  return loss;
}

template class BasicOptimizer<float>;
template class BasicOptimizer<double>;
template class FirstOrderOptimizer<float>;
template class FirstOrderOptimizer<double>;

}  // namespace symport
