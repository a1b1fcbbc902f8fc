// SPDX-License-Identifier: MIT
#include "symport/search/teleport_objective.hpp"

#include <stdexcept>

#include "search/objectives.hpp"

namespace symport {

const TeleportObjective& teleport_objective(ObjectiveKind kind) {
  switch (kind) {
    case ObjectiveKind::gradient_norm:
      return gradient_norm();
    case ObjectiveKind::predicted_decrease:
      return predicted_decrease();
    case ObjectiveKind::decrement:
      return decrement();
    case ObjectiveKind::sharpness:
      return sharpness();
    case ObjectiveKind::weight_norm:
      return weight_norm();
  }
  throw std::logic_error("teleport_objective: no such kind");
}

std::string_view to_string(ObjectiveKind kind) { return teleport_objective(kind).name(); }

double default_cap(ObjectiveKind kind) { return teleport_objective(kind).default_cap(); }

}  // namespace symport
