// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace symport::cli {

namespace {

constexpr std::size_t column = 24;  ///< where explanations begin
constexpr std::size_t width = 100;

/// The words of a line, broken where they would pass the width.
std::string wrapped(const std::string& line) {
  std::string text;
  std::size_t at = column;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (at > column && at + 1 + word.size() > width) {
      text += "\n" + std::string(column, ' ');
      at = column;
    }
    text += (at > column ? " " : "") + word;
    at += (at > column ? 1 : 0) + word.size();
  }
  return text;
}

/// A name, followed by an explanation of one or more lines.
std::string entry(const std::string& name, const std::string& explanation) {
  std::string text = "  " + name;
  text += text.size() + 1 < column ? std::string(column - text.size(), ' ')
                                   : "\n" + std::string(column, ' ');
  std::istringstream lines(explanation);
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    text += (first ? "" : "\n" + std::string(column, ' ')) + wrapped(line);
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
    const bool known = std::find(groups.begin(), groups.end(), option.group) != groups.end();
    if (!option.positional && !known) groups.push_back(option.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const Option& option : command.options) {
      if (option.positional || option.group != group) continue;
      std::string name = "--" + option.name;
      for (const std::string& alias : option.aliases) name += ", --" + alias;
      text += entry(fmt::format("{}{}{}", name, option.value.empty() ? "" : " ", option.value),
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
  text += entry("-h, --help", "show this help, or that of the preceding command");
  text += entry("-V, --version", "show the version; with --json those of all parts");
  return text +
         "\nWithout a command: symport demo.\n"
         "Exit codes: 0 done, 1 numerical failure, 2 bad usage or input, 130 interrupted.\n";
}

std::string command_help(const Command& command) {
  std::string usage = "Usage: symport " + command.name, positionals;
  for (const Option& option : command.options) {
    if (!option.positional) continue;
    usage += " [" + option.value + "]";
    positionals += entry(option.value, option.help);
  }
  std::string text = usage + " [OPTIONS]\n\n" + command.details + "\n";
  if (!positionals.empty()) text += "\n" + positionals;
  text += options_of(command);
  text += entry("-h, --help", "show this help");
  return text + "\nExamples:\n" + indented(command.examples);
}

}  // namespace symport::cli
