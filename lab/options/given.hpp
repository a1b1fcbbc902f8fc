// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/text/errors.hpp"

namespace symport::lab {

/// A value that the user gave, still text, and where: "--steps" or "run.toml:3: steps".
struct GivenValue {
  std::string text;
  std::string origin;
};

/// All that the user gave to a command, by option name. Switches have the text "true" or "false".
class Given {
 public:
  void set(const std::string& name, GivenValue value) { values_[name] = std::move(value); }
  /// Adds what is missing here: the command line wins over a configuration file.
  void merge(const Given& other) {
    values_.insert(other.values_.begin(), other.values_.end());
    lists_.insert(other.lists_.begin(), other.lists_.end());
  }

  void set_list(const std::string& name, std::vector<std::string> words) {
    lists_[name] = std::move(words);
  }
  /// The words of an option that takes many; empty: none was given.
  std::vector<std::string> list(const std::string& name) const;

  bool has(const std::string& name) const { return values_.contains(name); }
  bool is_on(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  /// The names of all single values.
  std::vector<std::string> names() const;
  /// How to call this value in a message: where it was given, else its flag.
  std::string origin(const std::string& name) const;

  /// parse(text) where the option was given; complaints name the place where it was.
  template <class Parse>
  auto read(const std::string& name, Parse&& parse) const
      -> std::optional<decltype(parse(std::string{}))> {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return blaming(found->second.origin, [&] { return parse(found->second.text); });
  }

 private:
  std::map<std::string, GivenValue> values_;
  std::map<std::string, std::vector<std::string>> lists_;
};

}  // namespace symport::lab
