// SPDX-License-Identifier: MIT
#include "lab/compare/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/options/registry.hpp"
#include "lab/options/usual_rate.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/schedules/schedule.hpp"

namespace symport::lab::compare {

namespace {

constexpr const char* grammar =
    "OPTIMIZER[:lr=RATE][+TELEPORT:SCHEDULE[,OPTION=VALUE...]], like "
    "gd+teleport:every:50,state=keep, or OPTIMIZER[:lr=THETA]+round-trip[:OPTION=VALUE...], like "
    "gd+round-trip:damping=0.1";

/// Options of a teleport besides its schedule, as the commands call them.
const std::vector<std::string>& teleport_options() {
  static const std::vector<std::string> names{
      "search", "search-steps", "search-rate",      "objective",           "bound",
      "cap",    "kappa",        "teleport-batches", "teleport-batch-size", "allow-partial-batch",
      "state",  "rehearsal"};
  return names;
}

/// A symmetry of a certain size, such as SO(4): the problem says whether it has that one.
bool names_a_group(const std::string& name) {
  const std::size_t open = name.find('(');
  if (open == std::string::npos || !name.ends_with(')')) return false;
  const std::string family = name.substr(0, open);
  return same_name(family, "SO") || same_name(family, "O") || same_name(family, "GL");
}

std::vector<std::string> teleport_kinds() {
  std::vector<std::string> names{"teleport", "random"};
  for (const auto& list : {names_of(network_symmetries()), names_of(symmetries())}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  names.emplace_back(round_trip_kind);
  return names;
}

/// As it is spelt in the list.
std::string require_name(const std::string& name, const std::vector<std::string>& names,
                         const std::string& origin) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& known) { return same_name(name, known); });
  if (found != names.end()) return *found;
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
    const OptimizerEntry* entry = entry_named(optimizers(), name);
    if (entry == nullptr) require_name(name, names_of(optimizers()), origin_);
    method_.optimizer = entry->name + text.substr(std::min(colon, text.size()));
    set("optimizer", entry->name, "the optimizer");
    if (colon == std::string::npos) {
      // There is no rate to tune, and none that all methods could share.
      if (finds_its_own_steps(entry->name)) set("lr", "auto", "lr");
      return;
    }
    for (const Setting& setting : settings(text.substr(colon + 1), origin_)) {
      require_name(setting.key, {"lr"}, origin_);
      set("lr", setting.value, "lr");
    }
  }

  void parse_teleport(const std::string& text) {
    const std::size_t colon = text.find(':');
    method_.kind = text.substr(0, colon);
    if (method_.kind.empty()) throw UsageError(origin_, fmt::format("allowed is {}", grammar));
    if (!names_a_group(method_.kind)) {
      method_.kind = require_name(method_.kind, teleport_kinds(), origin_);
    }
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
      std::string rest = text.substr(colon + 1);
      // The schedule as other commands have it: every:100+99, 5, 0/10/20.
      const std::string first = rest.substr(0, rest.find(','));
      const bool scheduled = first.find('=') == std::string::npos && !first.empty();
      if (scheduled) set_schedule(first, "the schedule");
      const bool more = !scheduled || first.size() < rest.size();
      if (scheduled && more) rest.erase(0, first.size() + 1);
      for (const Setting& setting : more ? settings(rest, origin_) : std::vector<Setting>{}) {
        require_name(setting.key, known, origin_);
        if (setting.key == "at" || setting.key == "every") {
          set_schedule((setting.key == "every" ? "every:" : "") + setting.value, setting.key);
        } else {
          set(setting.key, setting.value, setting.key);
        }
      }
    }
    if (method_.kind == "random") set("search", "blind", "search");
    if (!method_.options.has("teleport")) {
      throw UsageError(origin_,
                       "it does not say when to teleport; add a schedule, as in "
                       "gd+teleport:every:50, gd+teleport:5 or gd+teleport:0/10/20");
    }
  }

  /// In a method the steps of a list have a slash between them: commas separate its settings.
  void set_schedule(std::string schedule, const std::string& called) {
    std::replace(schedule.begin(), schedule.end(), '/', ',');
    with_origin(fmt::format("{}: {}", origin_, called), [&] { return Schedule::parse(schedule); });
    set("teleport", schedule, called);
  }

  void parse_round_trip(const std::string& text) {
    if (!text.empty()) {
      for (const Setting& setting : settings(text, origin_)) {
        require_name(setting.key, {"length", "power", "damping", "refresh"}, origin_);
        set(setting.key == "length" ? round_trip_kind : setting.key, setting.value, setting.key);
      }
    }
    if (!method_.options.has(round_trip_kind)) set(round_trip_kind, "usual", "length");
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
