// SPDX-License-Identifier: MIT
#include "symport/optimizers/line_search_descent.hpp"

#include <cmath>
#include <limits>

#include "optimizers/line_trial.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

namespace {

/// The bracket may shrink to rounding.
template <Real Scalar>
constexpr double rounding_bracket = 45.0 * std::numeric_limits<Scalar>::epsilon();
constexpr double any_decrease = 1e-10;

}  // namespace

template <Real Scalar>
LineSearchDescent<Scalar>::LineSearchDescent(const LineSearchDescentOptions& options)
    : options_(options) {
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    throw InvalidArgument("tolerance", fmt::format("{}", options.tolerance),
                          "a number between 0 and 1");
  }
  if (options.max_trials < 1) {
    throw InvalidArgument("max_trials", fmt::format("{}", options.max_trials),
                          "a whole number >= 1");
  }
}

template <Real Scalar>
OptimizerState<Scalar> LineSearchDescent<Scalar>::init(Index) const {
  OptimizerState<Scalar> state;
  state.add("rate", StateKind::scalar, 1);
  return state;
}

template <Real Scalar>
StepOutcome LineSearchDescent<Scalar>::step(const BasicObjective<Scalar>& objective,
                                            MeasuredPoint<Scalar>& here, double learning_rate,
                                            OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const VectorOf<Scalar>& gradient = here.gradient;
  const double J = gradient.template cast<double>().squaredNorm();
  if (!(J > 0.0) || !std::isfinite(J)) return {false, 0.0, 0.0};
  Scalar& last = state["rate"][0];
  const double Phi = objective.curvature(w, gradient);
  double first = J / Phi;
  if (!(Phi > 0.0 && std::isfinite(first))) {
    first = last > Scalar(0) ? 2.0 * static_cast<double>(last) : learning_rate;
  }
  const VectorOf<Scalar> d = -gradient;
  LineTrial<Scalar> line(objective, w, d);
  const WolfeOutcome found =
      wolfe_search([&](double t) { return line(t); }, {0.0, here.loss, -J}, first,
                   {.decrease = any_decrease,
                    .slope = options_.tolerance,
                    .width = rounding_bracket<Scalar>,
                    .max_trials = options_.max_trials});
  double evaluations = 2.0 + static_cast<double>(found.trials);
  if (!found.moved) return {false, 0.0, evaluations};
  evaluations += line.go_to(found.best.t);
  w = line.w();
  last = static_cast<Scalar>(found.best.t);
  line.give(here);
  ++state.count;
  return {true, found.best.t, evaluations - 1.0, true};
}

template class LineSearchDescent<float>;
template class LineSearchDescent<double>;

}  // namespace symport
