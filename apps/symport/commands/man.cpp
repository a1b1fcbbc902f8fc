// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <sstream>

#include "commands/all.hpp"
#include "symport/core/version.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

namespace {

/// Text of a line that roff does not take for a request.
std::string roff(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!result.empty()) result += "\n.br\n";
    if (line.starts_with('.') || line.starts_with('\'')) result += "\\&";
    for (const char c : line) {
      if (c == '\\') {
        result += "\\e";
      } else if (c == '-') {
        result += "\\-";
      } else {
        result += c;
      }
    }
  }
  return result;
}

std::string command_section(const Command& command) {
  std::string usage = "symport " + command.name;
  for (const Option& option : command.options) {
    if (option.positional) usage += " [" + option.value + "]";
  }
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}\n", roff(usage + " [OPTIONS]"),
                                 roff(command.summary), roff(command.details));
  for (const Option& option : command.options) {
    std::string name = option.positional ? option.value : "--" + option.name;
    for (const std::string& alias : option.aliases) name += ", --" + alias;
    if (!option.positional && !option.value.empty()) name += " " + option.value;
    text += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option.help));
  }
  return text + fmt::format(".PP\nExamples:\n.nf\n{}\n.fi\n", roff(command.examples));
}

int run_man(const Arguments&) {
  std::string text = fmt::format(
      ".TH SYMPORT 1 \"\" \"Symport {}\" \"User Commands\"\n"
      ".SH NAME\nsymport \\- optimize faster by symmetry teleportation\n"
      ".SH SYNOPSIS\n.B symport\n[COMMAND] [OPTIONS]\n"
      ".SH DESCRIPTION\n"
      "Now and then an optimizer jumps along a symmetry of its loss to another point of the same "
      "loss, from which the next steps decrease the loss faster.\n"
      ".SH COMMANDS\n",
      version());
  for (const Command& command : all_commands()) text += command_section(command);
  text +=
      ".SH EXIT STATUS\n0 done, 1 numerical failure or failed check, 2 bad usage or input, 130 "
      "interrupted\n"
      ".SH ENVIRONMENT\n.TP\n.B SYMPORT_DATA\nwhere fetched data sets are kept\n";
  print(text);
  return exit_done;
}

}  // namespace

Command man_command() {
  return {.name = "man",
          .summary = "the manual page",
          .details = "Prints symport(1), made from the help of all commands, for man and its like.",
          .examples =
              "symport man | man -l -\n"
              "symport man > ~/.local/share/man/man1/symport.1",
          .options = {},
          .run = run_man};
}

}  // namespace symport::cli
