// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace symport {

/// How numbers that belong to the parameters move when a teleport takes the parameters from w to
/// g.w; J is the Jacobian of the action at w.
enum class StateKind {
  cotangent,          ///< as gradients do, by J^-T: a velocity, a mean gradient
  squared_cotangent,  ///< squares of gradients, entry by entry: no rule holds for every J
  tangent,            ///< as steps do, by J: the last steps of a quasi-Newton method
  point,              ///< as the parameters do, by g: averaged parameters
  scalar,             ///< not at all: a step length
};
std::string_view to_string(StateKind kind);
/// The kind of that name, if there is one.
std::optional<StateKind> state_kind(std::string_view name);

}  // namespace symport
