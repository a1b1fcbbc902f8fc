// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace symport::cli {

namespace {

constexpr std::size_t column = 24;  ///< where explanations begin

/// A name, and beside it an explanation of one or more lines.
std::string entry(const std::string& name, const std::string& explanation) {
  std::string text = "  " + name;
  text += text.size() + 1 < column ? std::string(column - text.size(), ' ')
                                   : "\n" + std::string(column, ' ');
  for (const char c : explanation) {
    text += c;
    if (c == '\n') text += std::string(column, ' ');
  }
  return text + "\n";
}

std::string indented(const std::string& lines) {
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += "  " + line + "\n";
  return text;
}

std::string options_of(const Command& command) {
  std::vector<std::string> groups;
  for (const Option& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const Option& option : command.options) {
      if (option.group != group) continue;
      text +=
          entry(fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value),
                option.help);
    }
  }
  return text;
}

}  // namespace

std::string program_help(const std::vector<Command>& commands) {
  std::string text =
      "Usage: symport [COMMAND] [OPTIONS]\n\n"
      "Symport makes optimizers faster by symmetry teleportation: now and then it jumps to "
      "another\n"
      "point of the same loss, from which the next steps decrease the loss faster.\n\n"
      "Commands:\n";
  for (const Command& command : commands) text += entry(command.name, command.summary);
  text += "\nOptions:\n";
  text += entry("-h, --help", "this help; behind a command: the command's");
  text += entry("--version", "the version; with --json: of all parts");
  return text +
         "\nWithout a command: symport demo.\n"
         "Exit codes: 0 done, 1 numerical failure, 2 bad usage or input, 130 interrupted.\n";
}

std::string command_help(const Command& command) {
  std::string text = "Usage: symport " + command.name;
  for (const Option& positional : command.positionals) text += " [" + positional.value + "]";
  text += " [OPTIONS]\n\n" + command.details + "\n";
  if (!command.positionals.empty()) {
    text += "\n";
    for (const Option& positional : command.positionals) {
      text += entry(positional.value, positional.help);
    }
  }
  text += options_of(command);
  text += entry("-h, --help", "this help");
  return text + "\nExamples:\n" + indented(command.examples);
}

}  // namespace symport::cli
