// SPDX-License-Identifier: MIT
#include "symport/optimizers/levenberg_marquardt.hpp"

#include "optimizers/damped_gauss_newton.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

template <Real Scalar>
LevenbergMarquardt<Scalar>::LevenbergMarquardt(const LevenbergMarquardtOptions& options)
    : options_(options) {
  require_positive("damping", options.damping);
  require_positive("max_size", static_cast<double>(options.max_size));
  require_positive("max_trials", static_cast<double>(options.max_trials));
}

template <Real Scalar>
OptimizerState<Scalar> LevenbergMarquardt<Scalar>::init(Index) const {
  OptimizerState<Scalar> state;
  state.add("damping", StateKind::scalar, damping_numbers);
  return state;
}

template <Real Scalar>
void LevenbergMarquardt<Scalar>::require_fit(const BasicObjective<Scalar>& objective) const {
  DampedGaussNewton<Scalar>::form_of(objective, name(), true, options_.max_size);
}

template <Real Scalar>
StepOutcome LevenbergMarquardt<Scalar>::step(const BasicObjective<Scalar>& objective,
                                             MeasuredPoint<Scalar>& here, double,
                                             OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const auto form = DampedGaussNewton<Scalar>::form_of(objective, name(), true, options_.max_size);
  DampedGaussNewton<Scalar> system(*form, w, here.gradient);
  return damped_step<Scalar>(
      system, objective, here.loss, here.gradient,
      {.first = options_.damping, .by_root_loss = true, .max_trials = options_.max_trials}, state,
      w);
}

template class LevenbergMarquardt<float>;
template class LevenbergMarquardt<double>;

}  // namespace symport
