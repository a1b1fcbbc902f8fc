// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symport/core/state_kind.hpp"
#include "symport/core/types.hpp"

namespace symport {

/// A part of what an optimizer remembers. It holds a number for each parameter, or several such
/// vectors one after the other; of kind `scalar`, any number of values.
template <Real Scalar>
struct StateBuffer {
  std::string name;
  StateKind kind = StateKind::scalar;
  VectorOf<Scalar> values;
};

/// All that an optimizer remembers between steps: any number of buffers. Their kinds say how they
/// move at a teleport, their names what they are called in a checkpoint.
template <Real Scalar>
struct OptimizerState {
  Index count = 0;  ///< steps made since the last reset
  std::vector<StateBuffer<Scalar>> buffers{};

  /// Adds a buffer of zeros. Throws std::logic_error when there is one of that name, or when the
  /// name is not made of letters, digits and underscores.
  void add(std::string name, StateKind kind, Index size);
  bool has(std::string_view name) const;
  /// The values of a buffer. Throws std::logic_error when there is none of that name.
  VectorOf<Scalar>& operator[](std::string_view name);
  const VectorOf<Scalar>& operator[](std::string_view name) const;
};

}  // namespace symport
