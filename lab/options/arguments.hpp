// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/text/errors.hpp"

namespace symport::lab {

/// A value as it was given: its text, and where: "--steps" or "run.toml:3: steps".
struct Argument {
  std::string name;
  std::string text;  ///< of a switch "true" or "false"
  std::string origin;
};

/// What was given to a command, at the edge: names and texts. An `OptionTable` turns them into a
/// specification.
class Arguments {
 public:
  /// An option that may be given several times has several entries.
  void add(Argument argument) { list_.push_back(std::move(argument)); }
  /// Adds the options that are missing here: the command line wins over a configuration file.
  void merge(const Arguments& other);

  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::optional<std::string> text(const std::string& name) const;
  /// What to call this option in a message: where it was given, else its flag.
  std::string origin(const std::string& name) const;

  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  /// Calls `action`; an error about an option names the place where it was given.
  template <class Action>
  decltype(auto) explained(Action&& action) const {
    try {
      return std::forward<Action>(action)();
    } catch (const OptionError& error) {
      throw UsageError(origin(error.option()), error.detail());
    }
  }

 private:
  const Argument* find(const std::string& name) const;

  std::vector<Argument> list_;
};

}  // namespace symport::lab
