// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "symport/core/types.hpp"

namespace symport {

/// The matrix rho(g) by which a group element g acts on a slot.
enum class Representation {
  direct,  ///< g
  dual,    ///< g^-T
  power,   ///< s^charge, entry by entry; only for scalings
};

/// A place where a group acts: along one axis of one tensor, (S1) of docs/mathematics/slots.md.
struct Slot {
  std::string tensor;  ///< its name in the ParameterLayout
  Index axis = 0;
  Representation representation = Representation::direct;
  double charge = 1.0;  ///< the exponent of `power`
  /// The entries of the axis that the group acts on; the others do not change. Unset: to the end.
  Index start = 0;
  std::optional<Index> stop = std::nullopt;
  /// How many consecutive entries share one coordinate of the group: the pixels of a channel after
  /// an image is flattened.
  Index repeat = 1;
};

}  // namespace symport
