// SPDX-License-Identifier: MIT
#include "symmetries/slot_place.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

double exponent_of(GroupKind kind, const Slot& slot) {
  switch (slot.representation) {
    case Representation::direct:
      return 1.0;
    case Representation::dual:
      return -1.0;
    case Representation::power:
      break;
  }
  if (kind != GroupKind::scaling || !std::isfinite(slot.charge)) {
    throw InvalidArgument("slot " + slot.tensor,
                          fmt::format("the power {} of the group {}", slot.charge, to_string(kind)),
                          "a finite power of a scaling, or direct or dual");
  }
  return slot.charge;
}

}  // namespace

SlotPlace place_of(const ParameterLayout& layout, GroupKind kind, Index size, const Slot& slot) {
  const ParameterBlock& block = layout.block(slot.tensor);
  const std::string field = "slot " + slot.tensor;
  const auto axes = static_cast<Index>(block.shape.size());
  if (slot.axis < 0 || slot.axis >= axes) {
    throw InvalidArgument(field, fmt::format("axis {}", slot.axis),
                          fmt::format("0 to {}", axes - 1));
  }
  const auto axis = block.shape.begin() + slot.axis;
  const Index stop = slot.stop.value_or(*axis);
  if (slot.start < 0 || stop < slot.start || stop > *axis) {
    throw InvalidArgument(field, fmt::format("entries {} to {}", slot.start, stop),
                          fmt::format("a range in 0 to {}, the size of axis {}", *axis, slot.axis));
  }
  if (slot.repeat < 1 || stop - slot.start != size * slot.repeat) {
    throw InvalidArgument(
        field, fmt::format("{} entries of axis {}", stop - slot.start, slot.axis),
        fmt::format("the size {} of the group times repeat = {}", size, slot.repeat));
  }
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, Index{1}, std::multiplies<>());
  };
  SlotPlace place;
  const Index before = product(block.shape.begin(), axis);
  place.offset = block.offset + before * slot.start;
  place.inner = before * slot.repeat;
  place.n = size;
  place.blocks = product(axis + 1, block.shape.end());
  place.distance = before * *axis;
  place.exponent = exponent_of(kind, slot);
  return place;
}

}  // namespace symport
