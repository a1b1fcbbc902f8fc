// SPDX-License-Identifier: MIT
#include "symport/optimizers/curvature_descent.hpp"

#include <fmt/format.h>

#include <cmath>

#include "optimizers/backtrack.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

template <Real Scalar>
CurvatureDescent<Scalar>::CurvatureDescent(const CurvatureDescentOptions& options)
    : options_(options) {
  if (!(options.sufficient_decrease > 0 && options.sufficient_decrease < 1)) {
    throw InvalidArgument("sufficient_decrease", fmt::format("{}", options.sufficient_decrease),
                          "a number between 0 and 1");
  }
  if (!(options.shrink > 0 && options.shrink < 1)) {
    throw InvalidArgument("shrink", fmt::format("{}", options.shrink), "a number between 0 and 1");
  }
  if (options.max_backtracks < 0) {
    throw InvalidArgument("max_backtracks", fmt::format("{}", options.max_backtracks),
                          "a whole number >= 0");
  }
}

template <Real Scalar>
OptimizerState<Scalar> CurvatureDescent<Scalar>::init(Index) const {
  OptimizerState<Scalar> state;
  state.add("rate", StateKind::scalar, 1);
  return state;
}

template <Real Scalar>
double CurvatureDescent<Scalar>::first_rate(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                            In<Scalar> gradient, double learning_rate,
                                            double last_rate, Out<Scalar> work) const {
  objective.hessian_vector(w, gradient, work);
  const double J = static_cast<double>(gradient.squaredNorm());
  const double Phi = static_cast<double>(gradient.dot(work));
  const double rate = J / Phi;
  if (Phi > 0.0 && std::isfinite(rate)) return rate;
  return last_rate > 0.0 ? 2.0 * last_rate : learning_rate;
}

template <Real Scalar>
StepOutcome CurvatureDescent<Scalar>::step(const BasicObjective<Scalar>& objective,
                                           MeasuredPoint<Scalar>& here, double learning_rate,
                                           OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const VectorOf<Scalar>& gradient = here.gradient;
  const double J = static_cast<double>(gradient.squaredNorm());
  if (J == 0.0) return {false, 0.0, 0.0};
  VectorOf<Scalar> candidate(w.size());
  Scalar& last_rate = state["rate"][0];
  const double rate = first_rate(objective, w, gradient, learning_rate, last_rate, candidate);
  StepOutcome outcome =
      backtrack<Scalar>(objective, here.loss, gradient, J, rate, options_, last_rate, candidate, w);
  outcome.evaluations += 2.0;
  if (outcome.moved) ++state.count;
  return outcome;
}

template class CurvatureDescent<float>;
template class CurvatureDescent<double>;

}  // namespace symport
