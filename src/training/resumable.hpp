// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "symport/core/invalid_argument.hpp"
#include "symport/training/checkpoint.hpp"

namespace symport {

/// "velocity (128 numbers)"
template <Real Scalar>
std::string buffer_list(const OptimizerState<Scalar>& state) {
  std::string list;
  for (const StateBuffer<Scalar>& buffer : state.buffers) {
    list += fmt::format("{}{} ({} numbers)", list.empty() ? "" : ", ", buffer.name,
                        buffer.values.size());
  }
  return list.empty() ? "nothing" : list;
}

/// Throws InvalidArgument unless the checkpoint is of so many parameters and of an optimizer whose
/// state begins as `fresh`: what it holds is used without further checks.
template <Real Scalar>
void require_resumable(const Checkpoint<Scalar>& from, Index parameters,
                       const OptimizerState<Scalar>& fresh) {
  if (from.w.size() != parameters) {
    throw InvalidArgument("checkpoint", fmt::format("{} parameters", from.w.size()),
                          fmt::format("{} parameters", parameters));
  }
  const auto& found = from.optimizer.buffers;
  const auto& allowed = fresh.buffers;
  const bool same = std::equal(
      found.begin(), found.end(), allowed.begin(), allowed.end(), [](const auto& a, const auto& b) {
        return a.name == b.name && a.kind == b.kind && a.values.size() == b.values.size();
      });
  if (!same) {
    throw InvalidArgument("checkpoint", "an optimizer's state of " + buffer_list(from.optimizer),
                          buffer_list(fresh) + ", as this optimizer has");
  }
}

}  // namespace symport
