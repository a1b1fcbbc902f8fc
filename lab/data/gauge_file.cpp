// SPDX-License-Identifier: MIT
#include "lab/data/gauge_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "data/input.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

using nlohmann::json;

constexpr std::size_t largest_file = std::size_t{64} << 20;
constexpr int deepest = 8;
constexpr int known_version = 1;

/// The text as JSON in which no key stands twice and nothing is nested deeper than a gauge file is.
json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > deepest) throw InvalidArgument(name, "lists in lists in lists", "a gauge file");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key &&
        !keys.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw InvalidArgument(
          name, "the key " + detail::quoted(parsed.get_ref<const std::string&>()) + " twice",
          "each key once");
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    throw InvalidArgument(name, "text that is no JSON (" + detail::quoted(error.what()) + ")",
                          "a gauge file, as Symmetries.save writes it");
  }
}

std::string shown(const json& value) {
  return value.is_structured()
             ? fmt::format("an {}", value.type_name())
             : detail::quoted(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

const json& field(const json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) {
    throw InvalidArgument(place, fmt::format("no key '{}'", key), "a gauge file's form");
  }
  return *found;
}

const json& object_of(const json& value, const std::string& place) {
  if (value.is_object()) return value;
  throw InvalidArgument(place, shown(value), "an object");
}

const json& list_of(const json& object, const char* key, const std::string& place) {
  const json& value = field(object, key, place);
  if (value.is_array()) return value;
  throw InvalidArgument(fmt::format("{}, {}", place, key), shown(value), "a list");
}

Index whole(const json& value, const char* key, const std::string& place) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value.get<Index>();
  throw InvalidArgument(fmt::format("{}, {}", place, key), shown(value),
                        fmt::format("a whole number from 0 to {}", most));
}

double number(const json& value, const char* key, const std::string& place) {
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  throw InvalidArgument(fmt::format("{}, {}", place, key), shown(value), "a number");
}

std::string text_field(const json& object, const char* key, const std::string& place) {
  const json& value = field(object, key, place);
  if (value.is_string()) return value.get<std::string>();
  throw InvalidArgument(fmt::format("{}, {}", place, key), shown(value), "a string");
}

GroupKind kind_of(const std::string& name, const std::string& place) {
  if (name == "scale") return GroupKind::scaling;
  if (name == "gl") return GroupKind::general_linear;
  if (name == "orthogonal") return GroupKind::orthogonal;
  if (name == "sign") return GroupKind::signs;
  if (name == "permutation") return GroupKind::permutations;
  throw InvalidArgument(place + ", kind", detail::quoted(name),
                        "scale, gl, orthogonal, sign, permutation");
}

void read_rho(const json& rho, GroupKind kind, Gauge::Place& slot, const std::string& place) {
  switch (kind) {
    case GroupKind::scaling:
      slot.representation = Representation::power;
      slot.charge = number(rho, "rho", place);
      return;
    case GroupKind::signs:
      // s^c is s for every odd c; for an even one it is 1, and the slot would be none.
      if (std::abs(std::fmod(number(rho, "rho", place), 2.0)) != 1.0) {
        throw InvalidArgument(place + ", rho", shown(rho), "an odd number");
      }
      return;
    case GroupKind::general_linear:
    case GroupKind::orthogonal:
      if (rho == "g^-T") {
        slot.representation = Representation::dual;
        return;
      }
      if (rho == "g") return;
      throw InvalidArgument(place + ", rho", shown(rho), "\"g\" or \"g^-T\"");
    case GroupKind::permutations:
      if (rho != "g") throw InvalidArgument(place + ", rho", shown(rho), "\"g\"");
      return;
  }
}

Gauge::Place read_slot(const json& object, GroupKind kind, const std::string& place) {
  static const std::vector<std::string> known{"tensor", "axis", "start", "stop",
                                              "repeat", "rho",  "shift"};
  for (const auto& [key, value] : object_of(object, place).items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw InvalidArgument(place, "the key " + detail::quoted(key),
                            join(known) + did_you_mean(key, known));
    }
  }
  Gauge::Place slot;
  slot.tensor = text_field(object, "tensor", place);
  slot.axis = whole(field(object, "axis", place), "axis", place);
  slot.start = whole(field(object, "start", place), "start", place);
  slot.stop = whole(field(object, "stop", place), "stop", place);
  slot.repeat = whole(field(object, "repeat", place), "repeat", place);
  read_rho(field(object, "rho", place), kind, slot, place);
  if (object.contains("shift")) slot.shift = number(object["shift"], "shift", place);
  if (slot.shift != 0.0 && kind != GroupKind::scaling && kind != GroupKind::permutations) {
    throw InvalidArgument(place + ", shift", shown(object["shift"]),
                          "0 in groups other than scale and permutation");
  }
  return slot;
}

Gauge::Group read_group(const json& object, const std::string& place) {
  Gauge::Group group;
  group.kind = kind_of(text_field(object_of(object, place), "kind", place), place);
  group.size = whole(field(object, "size", place), "size", place);
  const json& slots = list_of(object, "slots", place);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    group.slots.push_back(read_slot(slots[i], group.kind, fmt::format("{}, slot {}", place, i)));
  }
  if (group.size < 1 || group.slots.empty()) {
    throw InvalidArgument(place,
                          fmt::format("size {} with {} slots", group.size, group.slots.size()),
                          "a size >= 1 and one or more slots");
  }
  return group;
}

}  // namespace

Gauge read_gauge(const std::filesystem::path& path) {
  return parse_gauge(detail::read_file(path), path.string());
}

Gauge parse_gauge(std::string_view text, const std::string& name) {
  if (text.size() > largest_file) {
    throw InvalidArgument(name, fmt::format("{} bytes", text.size()),
                          fmt::format("a gauge file of at most {}", largest_file));
  }
  const json document = parse_json(text, name);
  const json& version = field(object_of(document, name), "version", name);
  if (version != known_version) {
    throw InvalidArgument(name + ", version", shown(version), fmt::format("{}", known_version));
  }
  Gauge gauge;
  const json& groups = list_of(document, "groups", name);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    gauge.groups.push_back(read_group(groups[k], fmt::format("{}, group {}", name, k)));
  }
  return gauge;
}

}  // namespace symport::lab
