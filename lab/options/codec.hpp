// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lab/config/config_value.hpp"
#include "lab/options/registry.hpp"
#include "symport/core/same_name.hpp"
#include "symport/core/types.hpp"
#include "symport/schedules/schedule.hpp"

/// How values of options are read from text and written to configuration files. Every `parse`
/// throws InvalidArgument that quotes the text and says what is allowed.
namespace symport::lab {

template <class Value>
struct Codec {
  std::function<Value(const std::string&)> parse;
  std::function<ConfigValue(const Value&)> form;
};

Codec<bool> as_switch();
Codec<std::string> as_text();
/// A text whose configuration file says where the file is from any directory.
Codec<std::string> as_path();
Codec<Index> as_whole(Index smallest = 0, Index largest = std::numeric_limits<Index>::max());
Codec<std::uint64_t> as_seed();
/// Any finite number.
Codec<double> as_number();
Codec<double> as_positive();
/// A number > 0, or inf.
Codec<double> as_bound();
Codec<std::vector<double>> as_numbers();
Codec<Schedule> as_schedule();

/// `codec`, or a word that stands for a value left open: "full", "auto".
template <class Value>
Codec<std::optional<Value>> or_word(std::string word, Codec<Value> codec) {
  return {[=](const std::string& text) -> std::optional<Value> {
            if (same_name(text, word)) return std::nullopt;
            return codec.parse(text);
          },
          [=](const std::optional<Value>& value) {
            return value ? codec.form(*value) : ConfigValue(word);
          }};
}

/// The name of an entry of a table.
template <class Entry>
Codec<std::string> as_name_of(const std::vector<Entry>& entries) {
  return {[&entries](const std::string& text) { return find_entry(entries, text).name; },
          [](const std::string& name) { return ConfigValue(name); }};
}

/// A value that an entry of a table stands for.
template <class Entry, class Value>
Codec<Value> as_one_of(const std::vector<Entry>& entries, Value Entry::*value) {
  return {[&entries, value](const std::string& text) { return find_entry(entries, text).*value; },
          [](const Value& kind) { return ConfigValue(std::string(to_string(kind))); }};
}

/// One of an enumeration, by its `to_string`.
template <class Enum>
Codec<Enum> as_choice(std::vector<Enum> values) {
  return {[values](const std::string& text) {
            std::vector<std::string> names;
            for (const Enum value : values) {
              if (same_name(text, to_string(value))) return value;
              names.emplace_back(to_string(value));
            }
            throw InvalidArgument("value", fmt::format("'{}'", text),
                                  join(names) + did_you_mean(text, names));
          },
          [](const Enum& value) { return ConfigValue(std::string(to_string(value))); }};
}

}  // namespace symport::lab
