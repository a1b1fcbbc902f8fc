// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lab/data/gauge_file.hpp"
#include "lab/data/safetensors.hpp"
#include "symport/core/parameter_layout.hpp"
#include "symport/symmetries/slot_group.hpp"

namespace symport::lab {

/// The tensors that a gauge names as one flat vector. The library's tensors are column-major: a
/// C-ordered one is that with its axes in reverse.
struct PlacedGauge {
  ParameterLayout layout;
  std::vector<SlotGroup> groups;
  std::vector<SlotGroup> counted;  ///< the same without running statistics
  std::vector<std::string> names;  ///< of the tensors, in the order of the layout
  std::set<std::string> carried;   ///< the running statistics among them

  /// Of w, without the running statistics.
  double squared_norm(const Vector& w) const;
};

/// Throws InvalidArgument, naming the file, where a slot does not fit the tensors or two slots
/// overlap.
PlacedGauge place_gauge(const Gauge& gauge, const Safetensors& tensors,
                        const std::string& gauge_name, const std::string& weights_name);

/// The shift of every entry; 0 where it has none.
Vector shifts_of(const Gauge& gauge, const PlacedGauge& placed);

/// The tensors' numbers in double. Throws InvalidArgument where one is not finite.
Vector values_of(const Safetensors& tensors, const PlacedGauge& placed,
                 const std::string& weights_name);

}  // namespace symport::lab
