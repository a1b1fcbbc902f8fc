// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "symport/symmetries/slot_group.hpp"

namespace symport::lab {

/// The symmetries of somebody's model, as a gauge file lists them:
///
///   {"version": 1, "groups": [{"kind": "scale", "size": 64, "slots": [
///     {"tensor": "fc1.weight", "axis": 0, "start": 0, "stop": 64, "repeat": 1, "rho": 1},
///     {"tensor": "fc2.weight", "axis": 1, "start": 0, "stop": 64, "repeat": 1, "rho": -1}]}]}
///
/// Axes count as PyTorch and NumPy count them. Kinds are scale and sign (rho is the exponent of s),
/// gl and orthogonal (rho is "g" or "g^-T") and permutation ("g").
struct Gauge {
  struct Place : Slot {
    /// P -> rho (P + shift) - shift: the eps of a batch norm beside its running variance.
    double shift = 0.0;
  };
  struct Group {
    GroupKind kind = GroupKind::scaling;
    Index size = 0;
    std::vector<Place> slots{};
  };
  std::vector<Group> groups{};
};

/// Throws InvalidArgument, naming file, group and slot, on anything but that: other versions, keys
/// that are missing, unknown in a slot, or there twice, wrong types, files of more than 64 MB.
/// Other keys of a group or of the whole are notes for people and are not read.
Gauge read_gauge(const std::filesystem::path& path);
/// The same from text; `name` stands for it in messages.
Gauge parse_gauge(std::string_view text, const std::string& name);

}  // namespace symport::lab
