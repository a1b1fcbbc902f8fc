// SPDX-License-Identifier: MIT
#include "lab/compare/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/options/registry.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/schedules/schedule.hpp"

namespace symport::lab::compare {

namespace {

constexpr const char* grammar =
    "OPTIMIZER[:lr=RATE][+TELEPORT:every=N[,OPTION=VALUE...]], like "
    "gd+teleport:every=50,state=keep, or OPTIMIZER[:lr=THETA]+round-trip[:OPTION=VALUE...], like "
    "gd+round-trip:damping=0.1";

/// Options of a teleport besides its schedule, as the commands call them.
const std::vector<std::string>& teleport_options() {
  static const std::vector<std::string> names{
      "search", "search-steps",     "search-rate",         "objective",           "bound", "cap",
      "kappa",  "teleport-batches", "teleport-batch-size", "allow-partial-batch", "state"};
  return names;
}

std::vector<std::string> teleport_kinds() {
  std::vector<std::string> names{"teleport", "random"};
  for (const auto& list : {names_of(network_symmetries()), names_of(symmetries())}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  names.emplace_back(round_trip_kind);
  return names;
}

void require_name(const std::string& name, const std::vector<std::string>& names,
                  const std::string& origin) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UsageError(origin, fmt::format("found '{}', allowed is {}{}", name, join(names),
                                       did_you_mean(name, names)));
}

struct Setting {
  std::string key, value;
};

/// "every=50,state=keep"
std::vector<Setting> settings(const std::string& text, const std::string& origin) {
  std::vector<Setting> list;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      throw UsageError(origin, fmt::format("found '{}', allowed is OPTION=VALUE", part));
    }
    list.push_back({part.substr(0, equals), part.substr(equals + 1)});
    from = comma + 1;
  }
  return list;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : origin_(fmt::format("--method '{}'", text)) {
    method_.text = text;
  }

  Method parse() {
    // Only the first plus separates; the others are offsets of schedules.
    const std::size_t plus = method_.text.find('+');
    parse_optimizer(method_.text.substr(0, plus));
    if (plus != std::string::npos) parse_teleport(method_.text.substr(plus + 1));
    return std::move(method_);
  }

 private:
  void set(const std::string& name, const std::string& value, const std::string& called) {
    if (method_.options.has(name)) {
      throw UsageError(origin_, fmt::format("'{}' is given more than once", called));
    }
    method_.options.add({name, value, fmt::format("{}: {}", origin_, called)});
  }

  void parse_optimizer(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    if (name.empty()) throw UsageError(origin_, fmt::format("allowed is {}", grammar));
    require_name(name, names_of(optimizers()), origin_);
    method_.optimizer = text;
    set("optimizer", name, "the optimizer");
    if (colon == std::string::npos) return;
    for (const Setting& setting : settings(text.substr(colon + 1), origin_)) {
      require_name(setting.key, {"lr"}, origin_);
      set("lr", setting.value, "lr");
    }
  }

  void parse_teleport(const std::string& text) {
    const std::size_t colon = text.find(':');
    method_.kind = text.substr(0, colon);
    if (method_.kind.empty()) throw UsageError(origin_, fmt::format("allowed is {}", grammar));
    require_name(method_.kind, teleport_kinds(), origin_);
    if (method_.round_trips()) {
      parse_round_trip(colon == std::string::npos ? "" : text.substr(colon + 1));
      return;
    }
    std::vector<std::string> known{"at", "every"};
    known.insert(known.end(), teleport_options().begin(), teleport_options().end());
    if (method_.kind == "random") {
      known.push_back("symmetry");
      std::erase(known, "search");
    }
    if (colon != std::string::npos) {
      for (const Setting& setting : settings(text.substr(colon + 1), origin_)) {
        require_name(setting.key, known, origin_);
        if (setting.key == "at" || setting.key == "every") {
          std::string schedule = setting.value;
          std::replace(schedule.begin(), schedule.end(), '/', ',');
          if (setting.key == "every") schedule = "every:" + schedule;
          with_origin(fmt::format("{}: {}", origin_, setting.key),
                      [&] { return Schedule::parse(schedule); });
          set("teleport", schedule, setting.key);
        } else {
          set(setting.key, setting.value, setting.key);
        }
      }
    }
    if (method_.kind == "random") set("search", "blind", "search");
    if (!method_.options.has("teleport")) {
      throw UsageError(origin_,
                       "it does not say when to teleport; add at=5, at=0/10/20, every=50 "
                       "or every=100+99");
    }
  }

  void parse_round_trip(const std::string& text) {
    if (!text.empty()) {
      for (const Setting& setting : settings(text, origin_)) {
        require_name(setting.key, {"layers", "damping", "kernel", "refresh"}, origin_);
        set(setting.key == "layers" ? round_trip_kind : setting.key, setting.value, setting.key);
      }
    }
    if (!method_.options.has(round_trip_kind)) set(round_trip_kind, "all", "layers");
  }

  Method method_;
  std::string origin_;
};

}  // namespace

Method parse_method(const std::string& text) { return Parser(text).parse(); }

std::vector<Method> with_baselines(const std::vector<Method>& methods) {
  std::vector<Method> all;
  const auto add = [&](const Method& method) {
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Method& m) { return m.text == method.text; });
    if (!known) all.push_back(method);
  };
  for (const Method& method : methods) {
    if (!method.teleports()) add(method);
  }
  for (const Method& method : methods) {
    if (method.teleports()) add(parse_method(method.optimizer));
  }
  for (const Method& method : methods) add(method);
  return all;
}

}  // namespace symport::lab::compare
