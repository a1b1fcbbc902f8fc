// SPDX-License-Identifier: MIT
#include "symport/optimizers/gradient_descent.hpp"

namespace symport {

template <Real Scalar>
StepOutcome GradientDescent<Scalar>::step(const BasicObjective<Scalar>&,
                                          MeasuredPoint<Scalar>& here, double learning_rate,
                                          OptimizerState<Scalar>&, Out<Scalar> w) const {
  // A plain loop: for two or three parameters Eigen's way to the first aligned one costs more than
  // the step.
  const auto rate = static_cast<Scalar>(learning_rate);
  const Scalar* g = here.gradient.data();
  Scalar* x = w.data();
  for (Index i = 0, n = w.size(); i < n; ++i) x[i] -= rate * g[i];
  return {true, learning_rate, 0.0};
}

template <Real Scalar>
double GradientDescent<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                               double learning_rate, OptimizerState<Scalar>&,
                                               Out<Scalar> w, double* evaluations) const {
  if (evaluations) *evaluations = 1.0;
  return objective.gradient_step(w, learning_rate);
}

template class GradientDescent<float>;
template class GradientDescent<double>;

}  // namespace symport
