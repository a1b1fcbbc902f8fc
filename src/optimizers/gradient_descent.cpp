// SPDX-License-Identifier: MIT
#include "symport/optimizers/gradient_descent.hpp"

namespace symport {

template <Real Scalar>
StepOutcome GradientDescent<Scalar>::step(const BasicObjective<Scalar>&, double,
                                          In<Scalar> gradient, double learning_rate,
                                          OptimizerState<Scalar>&, Out<Scalar> w) const {
  // A plain loop: for two or three parameters Eigen's way to the first aligned one costs more than
  // the step.
  const auto rate = static_cast<Scalar>(learning_rate);
  const Scalar* g = gradient.data();
  Scalar* x = w.data();
  for (Index i = 0, n = w.size(); i < n; ++i) x[i] -= rate * g[i];
  return {true, learning_rate, 0.0};
}

template <Real Scalar>
void GradientDescent<Scalar>::preview(const BasicObjective<Scalar>&, In<Scalar>,
                                      In<Scalar> gradient, double learning_rate,
                                      const OptimizerState<Scalar>&, Out<Scalar> u) const {
  u = static_cast<Scalar>(learning_rate) * gradient;
}

template class GradientDescent<float>;
template class GradientDescent<double>;

}  // namespace symport
