// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// Adam's two moments: the mean of the gradients and that of their squares.
template <Real Scalar>
OptimizerState<Scalar> adam_state(Index dimension) {
  OptimizerState<Scalar> state;
  state.add("mean", StateKind::cotangent, dimension);
  state.add("squares", StateKind::squared_cotangent, dimension);
  return state;
}

/// Advances Adam's two moments by one gradient and fills u with its step.
template <Real Scalar>
void adam_direction(In<Scalar> gradient, double beta1, double beta2, double epsilon,
                    double learning_rate, const StateRange<Scalar>& state, Out<Scalar> u) {
  const auto b1 = static_cast<Scalar>(beta1), b2 = static_cast<Scalar>(beta2);
  auto mean = state[0], squares = state[1];
  mean = b1 * mean + (1 - b1) * gradient;
  squares = b2 * squares.array() + (1 - b2) * gradient.array().square();
  const auto t = static_cast<double>(state.count() + 1);
  const auto rate = static_cast<Scalar>(learning_rate / (1.0 - std::pow(beta1, t)));
  const auto unbias2 = static_cast<Scalar>(1.0 / (1.0 - std::pow(beta2, t)));
  u = rate * mean.array() / ((squares.array() * unbias2).sqrt() + static_cast<Scalar>(epsilon));
}

/// Running means of gradients and of their squares obey |m| <= K sqrt(v), by Cauchy and Schwarz.
template <Real Scalar>
void bound_adam_moments(double beta1, double beta2, const StateRange<Scalar>& state) {
  double K = 0.9;
  if (const double ratio = beta1 * beta1 / beta2; beta1 > 0.0 && ratio < 1.0) {
    K = (1.0 - beta1) / std::sqrt((1.0 - beta2) * (1.0 - ratio));
  }
  auto mean = state[0], squares = state[1];
  const VectorOf<Scalar> bound = static_cast<Scalar>(K) * squares.cwiseSqrt();
  mean = mean.cwiseMin(bound).cwiseMax(-bound);
}

}  // namespace symport
