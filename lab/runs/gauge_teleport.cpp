// SPDX-License-Identifier: MIT
#include "lab/runs/gauge_teleport.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/input.hpp"
#include "lab/data/tensor_values.hpp"
#include "lab/runs/placed_gauge.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/npz.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport::lab {

namespace {

constexpr const char* scope =
    "data-free: no loss was evaluated; the outputs are kept on all data if the groups of the gauge "
    "file are symmetries of the model. Norms are those of the tensors that the gauge names, "
    "without "
    "running statistics";

/// The first tensor of a group in 16 bits, which only powers of two keep exact.
std::optional<std::string> short_tensor(const SlotGroup& group, const Safetensors& tensors) {
  for (const Slot& slot : group.slots) {
    const std::string& dtype = tensors.tensors().find(slot.tensor)->second.dtype;
    if (dtype == "BF16" || dtype == "F16") return fmt::format("{} ({})", slot.tensor, dtype);
  }
  return std::nullopt;
}

bool has_whole_charges(const SlotGroup& group) {
  return std::all_of(group.slots.begin(), group.slots.end(), [](const Slot& slot) {
    return slot.representation != Representation::power || slot.charge == std::round(slot.charge);
  });
}

/// Of every group: why it stays, or nothing.
std::vector<std::string> reasons_to_stay(const PlacedGauge& placed, const Safetensors& tensors,
                                         const GaugeTeleportSpec& spec) {
  std::vector<std::string> reasons;
  for (std::size_t k = 0; k < placed.groups.size(); ++k) {
    const SlotGroup& group = placed.groups[k];
    std::string& reason = reasons.emplace_back();
    const bool dyadic = group.kind == GroupKind::scaling && has_whole_charges(group) &&
                        spec.scales == Scales::powers_of_two;
    const auto narrow = short_tensor(group, tensors);
    if (placed.counted[k].slots.empty()) {
      reason = "it acts on running statistics alone";
    } else if (narrow && !dyadic) {
      reason = fmt::format("{} has 16 bits, which only powers of two keep exact", *narrow);
    }
  }
  return reasons;
}

struct Destination {
  GroupElement element;
  std::vector<std::string> reasons;  ///< why a group stays
  Index sweeps = 0;
  double condition = 1.0;
};

Destination find_destination(const PlacedGauge& placed, const Safetensors& tensors, const Vector& w,
                             const GaugeTeleportSpec& spec) {
  Destination to{SlotSymmetry<double>(placed.layout, placed.groups).identity(),
                 reasons_to_stay(placed, tensors, spec)};
  std::vector<SlotGroup> groups;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < placed.groups.size(); ++k) {
    if (!to.reasons[k].empty()) continue;
    groups.push_back(placed.counted[k]);
    places.push_back(k);
  }
  const GaugeMove move =
      gauge_move(placed.layout, groups, w,
                 {.target = spec.objective, .powers_of_two = spec.scales == Scales::powers_of_two});
  for (const GaugeMove::LeftAlone& group : move.left_alone) {
    to.reasons[places[group.group]] = group.reason;
  }
  for (std::size_t j = 0; j < places.size(); ++j) {
    to.element.g[places[j]] = move.element.g[j];
    to.element.inverse[places[j]] = move.element.inverse[j];
  }
  to.sweeps = move.sweeps;
  to.condition = move.condition;
  const GroupElement identity = SlotSymmetry<double>(placed.layout, placed.groups).identity();
  for (std::size_t k = 0; k < to.reasons.size(); ++k) {
    if (to.reasons[k].empty() && to.element.g[k] == identity.g[k]) to.reasons[k] = "it is there";
  }
  return to;
}

/// Every scale that moves is a power of two, and so is what it multiplies by.
bool is_dyadic(const PlacedGauge& placed, const Destination& to, const Vector& shift,
               const GaugeTeleportSpec& spec) {
  for (std::size_t k = 0; k < placed.groups.size(); ++k) {
    if (!to.reasons[k].empty()) continue;
    const bool exact = placed.groups[k].kind == GroupKind::scaling &&
                       has_whole_charges(placed.groups[k]) && spec.scales == Scales::powers_of_two;
    if (!exact) return false;
  }
  return shift.isZero(0.0);
}

/// Why the destination is none; empty: it is one. `stored` are its values as the file will have
/// them.
std::string objection(const PlacedGauge& placed, const Safetensors& tensors, const Vector& moved,
                      const Vector& stored, const GaugeCertificate& certificate,
                      const GaugeTeleportSpec& spec) {
  for (const std::string& name : placed.names) {
    const ParameterBlock& block = placed.layout.block(name);
    const auto there = stored.segment(block.offset, block.size());
    const std::string& dtype = tensors.tensors().find(name)->second.dtype;
    if (!there.allFinite()) return fmt::format("{} would overflow in {}", name, dtype);
    const bool narrow = dtype == "BF16" || dtype == "F16";
    if (narrow && there != moved.segment(block.offset, block.size())) {
      return fmt::format("{} would be rounded in {}", name, dtype);
    }
  }
  const bool any = std::any_of(certificate.groups.begin(), certificate.groups.end(),
                               [](const GaugeCertificate::Move& group) { return group.moved; });
  if (!any) return "no group moves";
  if (spec.objective == GaugeTarget::balance &&
      certificate.squared_norm_after >= certificate.squared_norm_before) {
    return "the squared norm would not fall";
  }
  return "";
}

std::string kind_name(GroupKind kind) {
  switch (kind) {
    case GroupKind::scaling:
      return "scale";
    case GroupKind::general_linear:
      return "gl";
    case GroupKind::orthogonal:
      return "orthogonal";
    case GroupKind::signs:
      return "sign";
    case GroupKind::permutations:
      break;
  }
  return "permutation";
}

}  // namespace

std::string_view to_string(Scales scales) {
  return scales == Scales::any ? "any" : "powers-of-two";
}

const OptionTable<GaugeTeleportSpec>& gauge_teleport_options() {
  using S = GaugeTeleportSpec;
  static const OptionTable<S> table(
      "Any model (--gauge)",
      {row({"weights", "FILE", "the model's tensors: .safetensors or .npz"}, &S::weights,
           as_text()),
       row({"gauge", "FILE.json",
            "the symmetries of the model that --weights holds, as symport.torch writes them; "
            "needs no --batch"},
           &S::gauge, as_text()),
       row({"objective", "NAME",
            "balance: the smallest squared norm; orthonormal: producers with orthonormal rows"},
           &S::objective, as_choice<GaugeTarget>({GaugeTarget::balance, GaugeTarget::orthonormal})),
       row({"scales", "powers-of-two|any",
            "what scalings multiply by: powers of two keep every bit of the outputs; any reaches "
            "the target exactly, up to rounding"},
           &S::scales, as_choice<Scales>({Scales::powers_of_two, Scales::any}))});
  return table;
}

GaugeTeleportResult teleport_tensors(Safetensors tensors, const Gauge& gauge,
                                     const GaugeTeleportSpec& spec) {
  const auto start = std::chrono::steady_clock::now();
  const PlacedGauge placed = place_gauge(gauge, tensors, spec.gauge, spec.weights);
  const SlotSymmetry<double> symmetry(placed.layout, placed.groups);
  const Vector shift = shifts_of(gauge, placed);
  const Vector w = values_of(tensors, placed, spec.weights);
  const Destination to = find_destination(placed, tensors, w, spec);

  Vector moved = w + shift;
  symmetry.act(to.element, moved);
  moved -= shift;
  Safetensors there = tensors;
  Vector stored(w.size());
  for (const std::string& name : placed.names) {
    const Safetensors::Tensor& tensor = there.tensors().find(name)->second;
    const ParameterBlock& block = placed.layout.block(name);
    encode(tensor.dtype, moved.segment(block.offset, block.size()), there.data(tensor));
    stored.segment(block.offset, block.size()) = decode(tensor.dtype, there.bytes(tensor));
  }
  Vector undone = stored;
  symmetry.act(symmetry.inverse(to.element), undone);

  GaugeCertificate certificate{.objective = std::string(to_string(spec.objective)),
                               .scope = scope,
                               .reason = {},
                               .squared_norm_before = placed.squared_norm(w),
                               .squared_norm_after = placed.squared_norm(stored),
                               .condition = to.condition,
                               .bit_exact = is_dyadic(placed, to, shift, spec) && undone == w,
                               .sweeps = to.sweeps,
                               .groups = {}};
  for (std::size_t k = 0; k < placed.groups.size(); ++k) {
    certificate.groups.push_back({kind_name(placed.groups[k].kind), placed.groups[k].size,
                                  to.reasons[k].empty(), to.reasons[k]});
  }
  certificate.reason = objection(placed, tensors, moved, stored, certificate, spec);
  certificate.accepted = certificate.reason.empty();
  if (certificate.accepted) {
    const auto count = std::count_if(certificate.groups.begin(), certificate.groups.end(),
                                     [](const auto& group) { return group.moved; });
    certificate.reason = fmt::format("{}: {} of {} groups moved", certificate.objective, count,
                                     certificate.groups.size());
  }
  certificate.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {certificate, certificate.accepted ? std::move(there) : std::move(tensors)};
}

GaugeTeleportResult teleport_by_gauge(const GaugeTeleportSpec& spec) {
  if (spec.weights.empty()) {
    throw OptionError("weights", "missing, allowed is a .safetensors or .npz file");
  }
  if (spec.gauge.empty()) throw OptionError("gauge", "missing, allowed is a gauge file (JSON)");
  return teleport_tensors(read_tensors(spec.weights), read_gauge(spec.gauge), spec);
}

Safetensors read_tensors(const std::filesystem::path& path) {
  if (path.extension() == ".npz") return Safetensors::of(read_npz(path));
  if (path.extension() == ".safetensors") return Safetensors::read(path);
  throw InvalidArgument(path.string(), "the ending " + detail::quoted(path.extension().string()),
                        ".safetensors or .npz");
}

void write_tensors(const std::filesystem::path& path, const Safetensors& tensors) {
  if (path.extension() == ".npz") {
    write_npz(path, arrays_of(tensors));
  } else if (path.extension() == ".safetensors") {
    tensors.write(path);
  } else {
    throw InvalidArgument(path.string(), "the ending " + detail::quoted(path.extension().string()),
                          ".safetensors or .npz");
  }
}

std::string json_of(const GaugeCertificate& c) {
  Json groups = Json::array();
  for (const GaugeCertificate::Move& group : c.groups) {
    groups.push_back({{"kind", group.kind},
                      {"size", group.size},
                      {"moved", group.moved},
                      {"reason", group.reason}});
  }
  return json_text({{"objective", c.objective},
                    {"scope", c.scope},
                    {"loss_before", nullptr},
                    {"loss_after", nullptr},
                    {"drift", nullptr},
                    {"squared_norm_before", json_number(c.squared_norm_before)},
                    {"squared_norm_after", json_number(c.squared_norm_after)},
                    {"condition", json_number(c.condition)},
                    {"bit_exact", c.bit_exact},
                    {"sweeps", c.sweeps},
                    {"groups", groups},
                    {"evaluations", 0},
                    {"seconds", json_number(c.seconds)},
                    {"accepted", c.accepted},
                    {"reason", c.reason}});
}

}  // namespace symport::lab
