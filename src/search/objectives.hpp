// SPDX-License-Identifier: MIT
#pragma once

#include "symport/search/teleport_objective.hpp"

namespace symport {

// The objectives of a teleport, one file each.
const TeleportObjective& gradient_norm();
const TeleportObjective& predicted_decrease();
const TeleportObjective& decrement();
const TeleportObjective& sharpness();
const TeleportObjective& weight_norm();

}  // namespace symport
