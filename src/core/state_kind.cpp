// SPDX-License-Identifier: MIT
#include "symport/core/state_kind.hpp"

namespace symport {

namespace {

constexpr StateKind all_kinds[] = {StateKind::cotangent, StateKind::squared_cotangent,
                                   StateKind::tangent, StateKind::point, StateKind::scalar};

}  // namespace

std::string_view to_string(StateKind kind) {
  switch (kind) {
    case StateKind::cotangent:
      return "cotangent";
    case StateKind::squared_cotangent:
      return "squared_cotangent";
    case StateKind::tangent:
      return "tangent";
    case StateKind::point:
      return "point";
    case StateKind::scalar:
      return "scalar";
  }
  return "unknown";
}

std::optional<StateKind> state_kind(std::string_view name) {
  for (const StateKind kind : all_kinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace symport
