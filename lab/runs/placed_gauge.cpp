// SPDX-License-Identifier: MIT
#include "lab/runs/placed_gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/input.hpp"
#include "lab/data/tensor_values.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

bool is_running_statistic(std::string_view tensor) {
  return tensor.ends_with("running_mean") || tensor.ends_with("running_var");
}

const Safetensors::Tensor& find_tensor(const Safetensors& tensors, const std::string& name,
                                       const std::string& weights_name, const std::string& place) {
  const auto found = tensors.tensors().find(name);
  if (found != tensors.tensors().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, tensor] : tensors.tensors()) names.push_back(known);
  throw InvalidArgument(
      place, "the tensor " + detail::quoted(name),
      fmt::format("one of those in {}{}", weights_name, did_you_mean(name, names)));
}

/// Throws unless the slot lies in the tensor and fits its group. The library checks this too, but
/// its axes are those of column-major tensors.
void require_fit(const Gauge::Group& group, const Gauge::Place& slot,
                 const Safetensors::Tensor& tensor, const std::string& place) {
  const Index axes = std::ssize(tensor.shape);
  if (slot.axis >= axes) {
    throw InvalidArgument(place, fmt::format("axis {} of {}", slot.axis, slot.tensor),
                          fmt::format("one of its {} axes, counted from 0", axes));
  }
  if (!is_number(tensor.dtype)) {
    throw InvalidArgument(
        place, fmt::format("the tensor {} of dtype {}", detail::quoted(slot.tensor), tensor.dtype),
        "F64 and F32 and, for powers of two, BF16 and F16");
  }
  const Index length = tensor.shape[static_cast<std::size_t>(slot.axis)];
  if (slot.start > *slot.stop || *slot.stop > length) {
    throw InvalidArgument(place, fmt::format("entries {} to {}", slot.start, *slot.stop),
                          fmt::format("a range in 0 to {}, the size of axis {} of {}", length,
                                      slot.axis, slot.tensor));
  }
  if (slot.repeat < 1 || *slot.stop - slot.start != group.size * slot.repeat) {
    throw InvalidArgument(
        place, fmt::format("{} entries", *slot.stop - slot.start),
        fmt::format("the size {} of the group times repeat = {}", group.size, slot.repeat));
  }
}

/// Throws when two slots have the same entries of an axis.
void require_disjoint(const Gauge& gauge, const std::string& file) {
  std::map<std::pair<std::string, Index>, std::map<Index, Index>> taken;  // start -> stop
  for (std::size_t k = 0; k < gauge.groups.size(); ++k) {
    for (std::size_t i = 0; i < gauge.groups[k].slots.size(); ++i) {
      const Gauge::Place& slot = gauge.groups[k].slots[i];
      std::map<Index, Index>& ranges = taken[{slot.tensor, slot.axis}];
      const auto after = ranges.lower_bound(slot.start);
      const bool meets_next = after != ranges.end() && after->first < *slot.stop;
      const bool meets_last = after != ranges.begin() && std::prev(after)->second > slot.start;
      if (meets_next || meets_last) {
        throw InvalidArgument(
            fmt::format("{}, group {}, slot {}", file, k, i),
            fmt::format("entries {} to {} of axis {} of {}, where another slot is", slot.start,
                        *slot.stop, slot.axis, slot.tensor),
            "each entry of an axis in one slot");
      }
      ranges.emplace(slot.start, *slot.stop);
    }
  }
}

}  // namespace

PlacedGauge place_gauge(const Gauge& gauge, const Safetensors& tensors,
                        const std::string& gauge_name, const std::string& weights_name) {
  PlacedGauge placed;
  for (std::size_t k = 0; k < gauge.groups.size(); ++k) {
    const Gauge::Group& group = gauge.groups[k];
    SlotGroup all{group.kind, group.size, {}};
    for (std::size_t i = 0; i < group.slots.size(); ++i) {
      const Gauge::Place& slot = group.slots[i];
      const std::string place = fmt::format("{}, group {}, slot {}", gauge_name, k, i);
      const Safetensors::Tensor& tensor = find_tensor(tensors, slot.tensor, weights_name, place);
      require_fit(group, slot, tensor, place);
      if (std::find(placed.names.begin(), placed.names.end(), slot.tensor) == placed.names.end()) {
        placed.layout.add(slot.tensor, {tensor.shape.rbegin(), tensor.shape.rend()});
        placed.names.push_back(slot.tensor);
      }
      if (slot.shift != 0.0 || is_running_statistic(slot.tensor))
        placed.carried.insert(slot.tensor);
      all.slots.push_back(slot);
      all.slots.back().axis = std::ssize(tensor.shape) - 1 - slot.axis;
    }
    placed.groups.push_back(std::move(all));
  }
  require_disjoint(gauge, gauge_name);
  for (const SlotGroup& group : placed.groups) {
    placed.counted.push_back(group);
    std::erase_if(placed.counted.back().slots,
                  [&](const Slot& slot) { return placed.carried.contains(slot.tensor); });
  }
  return placed;
}

Vector shifts_of(const Gauge& gauge, const PlacedGauge& placed) {
  Vector shift = Vector::Zero(placed.layout.size());
  for (std::size_t k = 0; k < gauge.groups.size(); ++k) {
    for (std::size_t i = 0; i < gauge.groups[k].slots.size(); ++i) {
      const Gauge::Place& slot = gauge.groups[k].slots[i];
      if (slot.shift == 0.0) continue;
      const ParameterBlock& block = placed.layout.block(slot.tensor);
      const Index axis = placed.groups[k].slots[i].axis;
      Index inner = 1;
      for (Index a = 0; a < axis; ++a) inner *= block.shape[static_cast<std::size_t>(a)];
      const Index length = block.shape[static_cast<std::size_t>(axis)];
      for (Index j = 0; j < block.size(); ++j) {
        const Index at = j / inner % length;
        if (at >= slot.start && at < *slot.stop) shift[block.offset + j] = slot.shift;
      }
    }
  }
  return shift;
}

Vector values_of(const Safetensors& tensors, const PlacedGauge& placed,
                 const std::string& weights_name) {
  Vector w(placed.layout.size());
  for (const std::string& name : placed.names) {
    const Safetensors::Tensor& tensor = tensors.tensors().find(name)->second;
    const ParameterBlock& block = placed.layout.block(name);
    const Vector values = decode(tensor.dtype, tensors.bytes(tensor));
    if (!values.allFinite()) {
      throw InvalidArgument(detail::array_field(weights_name, detail::quoted(name)),
                            "a number that is not finite", "finite numbers");
    }
    w.segment(block.offset, block.size()) = values;
  }
  return w;
}

double PlacedGauge::squared_norm(const Vector& w) const {
  double sum = 0.0;
  for (const std::string& name : names) {
    if (carried.contains(name)) continue;
    const ParameterBlock& block = layout.block(name);
    sum += w.segment(block.offset, block.size()).squaredNorm();
  }
  return sum;
}

}  // namespace symport::lab
