// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// Loss and gradient where a line search ended, so that the next step need not evaluate them again.
/// They are a buffer of the optimizer's state, which a checkpoint has: a resumed run knows the same
/// bits. The buffer is of kind `scalar`: a teleport leaves it behind, and what is known of the
/// point that it left is not used for the one where it arrived.
namespace known_gradient {

constexpr const char* buffer = "known";

/// w, the gradient and the loss as a sum of three numbers, which are exact in float too.
template <Real Scalar>
void add(OptimizerState<Scalar>& state, Index dimension) {
  state.add(buffer, StateKind::scalar, 2 * dimension + 4);
}

template <Real Scalar>
void store(OptimizerState<Scalar>& state, In<Scalar> w, double loss, In<Scalar> gradient) {
  VectorOf<Scalar>& known = state[buffer];
  known.head(w.size()) = w;
  known.segment(w.size(), w.size()) = gradient;
  auto parts = known.tail(4);
  for (Index i = 0; i < 3; ++i) {
    parts[i] = static_cast<Scalar>(loss);
    loss -= static_cast<double>(parts[i]);
  }
  parts[3] = Scalar(1);
}

/// gradient <- the one that was stored for this w; the loss there. Nothing for any other w.
template <Real Scalar>
std::optional<double> recall(const OptimizerState<Scalar>& state, In<Scalar> w,
                             Out<Scalar> gradient) {
  const VectorOf<Scalar>& known = state[buffer];
  const auto parts = known.tail(4);
  if (parts[3] == Scalar(0) || known.head(w.size()) != w) return std::nullopt;
  gradient = known.segment(w.size(), w.size());
  return static_cast<double>(parts[0]) + static_cast<double>(parts[1]) +
         static_cast<double>(parts[2]);
}

}  // namespace known_gradient

}  // namespace symport
