// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "optimizers/in_blocks.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// Advances Adam's two moments by one gradient and fills u with its step.
template <Real Scalar>
void adam_direction(In<Scalar> gradient, double beta1, double beta2, double epsilon,
                    double learning_rate, StateRange<Scalar>& state, Out<Scalar> u) {
  const auto b1 = static_cast<Scalar>(beta1), b2 = static_cast<Scalar>(beta2);
  const auto t = static_cast<double>(state.count + 1);
  const auto rate = static_cast<Scalar>(learning_rate / (1.0 - std::pow(beta1, t)));
  const auto unbias2 = static_cast<Scalar>(1.0 / (1.0 - std::pow(beta2, t)));
  const auto added = static_cast<Scalar>(epsilon);
  in_blocks(u.size(), [&](Index first, auto count) {
    const auto g = gradient.segment(first, count).array();
    auto m = state.first.segment(first, count).array();
    auto s = state.second.segment(first, count).array();
    m = b1 * m + (1 - b1) * g;
    s = b2 * s + (1 - b2) * g.square();
    u.segment(first, count) = rate * m / ((s * unbias2).sqrt() + added);
  });
}

}  // namespace symport
