// SPDX-License-Identifier: MIT
#include "symport/optimizers/natural_gradient.hpp"

#include <limits>

#include "optimizers/damped_gauss_newton.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
NaturalGradient<Scalar>::NaturalGradient(const NaturalGradientOptions& options)
    : options_(options) {
  require_positive("damping", options.damping);
  require_positive("max_size", static_cast<double>(options.max_size));
  require_positive("max_trials", static_cast<double>(options.max_trials));
}

template <Real Scalar>
OptimizerState<Scalar> NaturalGradient<Scalar>::init(Index) const {
  OptimizerState<Scalar> state;
  if (options_.adaptive) state.add("damping", StateKind::scalar, damping_numbers);
  return state;
}

template <Real Scalar>
void NaturalGradient<Scalar>::require_fit(const BasicObjective<Scalar>& objective) const {
  DampedGaussNewton<Scalar>::form_of(objective, name(), false, options_.max_size);
}

template <Real Scalar>
StepOutcome NaturalGradient<Scalar>::step(const BasicObjective<Scalar>& objective,
                                          MeasuredPoint<Scalar>& here, double learning_rate,
                                          OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const auto form = DampedGaussNewton<Scalar>::form_of(objective, name(), false, options_.max_size);
  DampedGaussNewton<Scalar> system(*form, w, here.gradient);
  if (options_.adaptive) {
    return damped_step<Scalar>(system, objective, here.loss, here.gradient,
                               {.first = options_.damping, .max_trials = options_.max_trials},
                               state, w);
  }
  Vector u;
  if (!system.solve(options_.damping * system.mean_eigenvalue(), u)) {
    u.setConstant(w.size(), std::numeric_limits<double>::quiet_NaN());
  }
  w -= (learning_rate * u).template cast<Scalar>();
  ++state.count;
  return {true, learning_rate, system.evaluations()};
}

template class NaturalGradient<float>;
template class NaturalGradient<double>;

}  // namespace symport
