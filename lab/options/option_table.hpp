// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "lab/options/arguments.hpp"
#include "lab/options/codec.hpp"
#include "lab/options/option.hpp"

namespace symport::lab {

/// One option of a specification: how it is called, and the field that it is.
template <class Spec>
struct OptionRow {
  Option option;
  std::function<void(Spec&, const std::string& text)> read;
  /// Nothing: the field is open, or has no place in a configuration file.
  std::function<std::optional<ConfigValue>(const Spec&)> write;

  /// The same row, written only where `applies`.
  OptionRow when(std::function<bool(const Spec&)> applies) && {
    write = [write = std::move(write), applies = std::move(applies)](const Spec& spec) {
      return applies(spec) ? write(spec) : std::nullopt;
    };
    return std::move(*this);
  }
  /// The same row, with another role than that of the run's identity.
  OptionRow in_role(Role role) && {
    option.role = role;
    return std::move(*this);
  }
  /// The same row, never written.
  OptionRow unwritten() && {
    return std::move(*this).when([](const Spec&) { return false; });
  }
};

/// A row for a field of type Value, std::optional<Value> (open until it is given) or, with
/// Option::many, std::vector<Value>.
template <class Spec, class Field, class Value>
OptionRow<Spec> row(Option option, Field Spec::*field, Codec<Value> codec) {
  if constexpr (std::is_same_v<Field, Value>) {
    return {std::move(option),
            [=](Spec& spec, const std::string& text) { spec.*field = codec.parse(text); },
            [=](const Spec& spec) { return std::optional(codec.form(spec.*field)); }};
  } else if constexpr (std::is_same_v<Field, std::optional<Value>>) {
    return {std::move(option),
            [=](Spec& spec, const std::string& text) { spec.*field = codec.parse(text); },
            [=](const Spec& spec) -> std::optional<ConfigValue> {
              if (!(spec.*field)) return std::nullopt;
              return codec.form(*(spec.*field));
            }};
  } else {
    static_assert(std::is_same_v<Field, std::vector<Value>>);
    return {
        std::move(option),
        [=](Spec& spec, const std::string& text) { (spec.*field).push_back(codec.parse(text)); },
        [=](const Spec& spec) -> std::optional<ConfigValue> {
          std::vector<std::string> texts;
          for (const Value& value : spec.*field) texts.push_back(text_of(codec.form(value)));
          return ConfigValue(texts);
        }};
  }
}

/// The options of a specification, each once: flag, help with its default, key of a configuration
/// file in and out, and what makes two runs the same all come from here.
template <class Spec>
class OptionTable {
 public:
  /// `group` is where the help shows them. Help texts that do not speak of a default themselves end
  /// with that of Spec{}.
  OptionTable(const std::string& group, const std::vector<OptionRow<Spec>>& rows) {
    add(group, rows);
  }

  OptionTable& add(const std::string& group, const std::vector<OptionRow<Spec>>& rows) {
    for (const OptionRow<Spec>& row : rows) append(group, row);
    return *this;
  }

  /// The rows of a part of the specification; with `names` only those.
  template <class Part>
  OptionTable& include(const OptionTable<Part>& part, Part Spec::*member,
                       const std::vector<std::string>& names = {}) {
    for (const OptionRow<Part>& row : part.rows()) {
      const bool wanted = std::find(names.begin(), names.end(), row.option.name) != names.end();
      if (!names.empty() && !wanted) continue;
      rows_.push_back({row.option,
                       [=](Spec& spec, const std::string& text) { row.read(spec.*member, text); },
                       [=](const Spec& spec) { return row.write(spec.*member); }});
    }
    return *this;
  }

  /// Where the help shows these rows.
  void regroup(const std::vector<std::string>& names, const std::string& group) {
    for (OptionRow<Spec>& row : rows_) {
      const bool named = std::find(names.begin(), names.end(), row.option.name) != names.end();
      if (named) row.option.group = group;
    }
  }

  const std::vector<OptionRow<Spec>>& rows() const { return rows_; }
  std::vector<Option> options() const {
    std::vector<Option> list;
    for (const OptionRow<Spec>& row : rows_) list.push_back(row.option);
    return list;
  }
  bool has(const std::string& name) const { return find(name) != nullptr; }

  /// `start` with what was given; names of other tables are left alone. Throws UsageError that
  /// names the place of a malformed value.
  Spec read(const Arguments& arguments, Spec start = {}) const {
    for (const Argument& argument : arguments) {
      const OptionRow<Spec>* row = find(argument.name);
      if (row == nullptr) continue;
      with_origin(argument.origin, [&] { row->read(start, argument.text); });
    }
    return start;
  }

  /// The fields that are set and not empty, in the order of the rows; of these roles only.
  std::vector<ConfigEntry> write(const Spec& spec,
                                 std::initializer_list<Role> roles = {Role::identity, Role::length,
                                                                      Role::execution}) const {
    std::vector<ConfigEntry> entries;
    for (const OptionRow<Spec>& row : rows_) {
      if (std::find(roles.begin(), roles.end(), row.option.role) == roles.end()) continue;
      auto value = row.write(spec);
      if (value && !text_of(*value).empty()) entries.push_back({row.option.name, *value});
    }
    return entries;
  }

 private:
  void append(const std::string& group, OptionRow<Spec> row) {
    row.option.group = group;
    row.option.aliases = aliases_of(row.option.name);
    const std::optional<ConfigValue> value = row.write(Spec{});
    const std::string text = value ? text_of(*value) : "";
    const bool said = row.option.help.find("default") != std::string::npos;
    if (!said && !row.option.value.empty() && !text.empty()) {
      row.option.help += fmt::format("{}(default {})", row.option.help.empty() ? "" : " ", text);
    }
    rows_.push_back(std::move(row));
  }

  const OptionRow<Spec>* find(const std::string& name) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const OptionRow<Spec>& row) {
      return row.option.name == name;
    });
    return found == rows_.end() ? nullptr : &*found;
  }

  std::vector<OptionRow<Spec>> rows_;
};

/// The lists of several tables, one after the other.
inline std::vector<Option> joined(std::initializer_list<std::vector<Option>> lists) {
  std::vector<Option> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace symport::lab
