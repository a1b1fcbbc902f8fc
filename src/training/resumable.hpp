// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"
#include "symport/training/checkpoint.hpp"

namespace symport {

/// Throws InvalidArgument unless the checkpoint is of so many parameters and of an optimizer whose
/// state begins as `fresh`: what it holds is used without further checks.
template <Real Scalar>
void require_resumable(const Checkpoint<Scalar>& from, Index parameters,
                       const OptimizerState<Scalar>& fresh) {
  if (from.w.size() != parameters) {
    throw InvalidArgument("checkpoint", fmt::format("{} parameters", from.w.size()),
                          fmt::format("{} parameters", parameters));
  }
  const OptimizerState<Scalar>& state = from.optimizer;
  if (state.first.size() != fresh.first.size() || state.second.size() != fresh.second.size()) {
    throw InvalidArgument(
        "checkpoint",
        fmt::format("an optimizer's state of {} and {} numbers", state.first.size(),
                    state.second.size()),
        fmt::format("{} and {}, as this optimizer has", fresh.first.size(), fresh.second.size()));
  }
}

}  // namespace symport
