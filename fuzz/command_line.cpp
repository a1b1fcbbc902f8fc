// SPDX-License-Identifier: MIT
// The words of a command line, one a line. Commands read their options and then do nothing; files
// are only read where a word names one.
#include "cli/command_line.hpp"

#include <sstream>

#include "commands/all.hpp"
#include "lab/runs/run_config.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"

using namespace symport;

namespace {

std::vector<cli::Command> idle_commands() {
  std::vector<cli::Command> commands = cli::all_commands();
  for (cli::Command& command : commands) {
    const bool runs = command.name == "train" || command.name == "optimize";
    command.run = [=, name = command.name](const lab::Arguments& arguments) {
      if (runs) lab::read_run_spec(name, arguments);
      return 0;
    };
  }
  return commands;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<cli::Command> commands = idle_commands();
  std::vector<std::string> words;
  std::istringstream lines{std::string(fuzz::text_of(data, size))};
  for (std::string line; std::getline(lines, line);)
    words.push_back(line.substr(0, line.find('\0')));
  const int code = cli::run_program(words, commands);
  fuzz::require(code == cli::exit_done || code == cli::exit_usage,
                "a command line is understood or bad usage, never an internal error");
  return 0;
}
