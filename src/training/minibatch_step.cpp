// SPDX-License-Identifier: MIT
#include "symport/training/minibatch_step.hpp"

#include "symport/optimizers/round_trip.hpp"

namespace symport {

template <Real Scalar>
double minibatch_step(const BatchObjective<Scalar>& objective,
                      const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                      OptimizerState<Scalar>& state, VectorOf<Scalar>& w, double* evaluations) {
  if (evaluations) *evaluations = 1.0;
  if (const auto* trip = dynamic_cast<const RoundTrip<Scalar>*>(&optimizer)) {
    return trip->minibatch_step(objective, learning_rate, state, w, evaluations);
  }
  if (optimizer.plain_gradient_step()) return objective.gradient_step(w, learning_rate);
  const auto* separable = dynamic_cast<const FirstOrderOptimizer<Scalar>*>(&optimizer);
  if (separable != nullptr) {
    const double loss = objective.gradient_ranges(w, [&](Index first, In<Scalar> range) {
      separable->step_range(first, range, learning_rate, state, w);
    });
    ++state.count;
    return loss;
  }
  VectorOf<Scalar> gradient(w.size());
  const double loss = objective.gradient(w, gradient);
  optimizer.step(objective, loss, gradient, learning_rate, state, w);
  return loss;
}

template double minibatch_step(const BatchObjective<float>&, const BasicOptimizer<float>&, double,
                               OptimizerState<float>&, VectorOf<float>&, double*);
template double minibatch_step(const BatchObjective<double>&, const BasicOptimizer<double>&, double,
                               OptimizerState<double>&, VectorOf<double>&, double*);

}  // namespace symport
