// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/version_text.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/options/registry.hpp"
#include "lab/text/suggestion.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

std::string flag(const Option& option) { return "--" + option.name; }

std::string typed_as(const std::string& command) {
  return command.empty() ? "symport" : "symport " + command;
}

/// One command as CLI11 sees it. CLI11 only sorts the words; values stay text until the command
/// reads them, so that flags and configuration files share their checks and messages.
class Subcommand {
 public:
  Subcommand(const Command& command, CLI::App& program) : command_(command) {
    app_ = program.add_subcommand(command.name);
    app_->allow_extras();
    for (const Option& option : command.options) {
      std::string name = option.positional ? option.name : flag(option);
      for (const std::string& alias : option.aliases) name += ",--" + alias;
      CLI::Option* handle = option.value.empty() ? app_->add_flag(name)
                            : option.many        ? app_->add_option(name, lists_[option.name])
                                                 : app_->add_option(name, values_[option.name]);
      if (option.many && !option.positional) {
        handle->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1);
      }
      handles_.push_back(handle);
    }
  }

  const Command& command() const { return command_; }
  bool chosen() const { return app_->parsed(); }
  /// Words that no option took, without the mark `--` that ends the options.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> words = app_->remaining();
    std::erase(words, "--");
    return words;
  }

  Arguments arguments() const {
    Arguments arguments;
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i]->count() == 0) continue;
      const Option& option = command_.options[i];
      const std::string origin = option.positional ? placeholder(option) : flag(option);
      std::vector<std::string> texts;
      if (option.many) {
        texts = lists_.at(option.name);
      } else {
        texts = {option.value.empty() ? handles_[i]->results().back() : values_.at(option.name)};
      }
      for (const std::string& text : texts) arguments.add({option.name, text, origin});
    }
    return arguments;
  }

 private:
  const Command& command_;
  CLI::App* app_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<std::string>> lists_;
  std::vector<CLI::Option*> handles_;  ///< of the command's options
};

std::vector<std::string> flags_of(const Command& command, bool with_value_only) {
  std::vector<std::string> flags;
  for (const Option& option : command.options) {
    if (option.positional || (with_value_only && option.value.empty())) continue;
    flags.push_back(flag(option));
    for (const std::string& alias : option.aliases) flags.push_back("--" + alias);
  }
  return flags;
}

/// The commands that have a flag, "symport benchmark and symport train".
std::string owners_of(const std::string& flag, const std::vector<Command>& commands) {
  std::vector<std::string> owners;
  for (const Command& command : commands) {
    const std::vector<std::string> flags = flags_of(command, false);
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) {
      owners.push_back(typed_as(command.name));
    }
  }
  const std::string last = owners.empty() ? "" : owners.back();
  if (owners.size() < 2) return last;
  owners.pop_back();
  return fmt::format("{} and {}", fmt::join(owners, ", "), last);
}

[[noreturn]] void reject_leftover(const std::string& word, const std::string& command,
                                  std::vector<std::string> flags,
                                  const std::vector<Command>& commands = {}) {
  flags.push_back("--help");
  const std::string name = word.substr(0, word.find('='));
  const std::string hint = fmt::format("\nTry '{} --help'.", typed_as(command));
  if (const std::string owners = owners_of(name, commands); !owners.empty()) {
    throw UsageError(fmt::format("{} has no '{}'; that is a flag of {}{}", typed_as(command), name,
                                 owners, hint));
  }
  if (name.starts_with("-")) {
    throw UsageError(fmt::format("unknown flag '{}'{}{}", name, did_you_mean(name, flags), hint));
  }
  throw UsageError(fmt::format("unexpected argument '{}'{}", word, hint));
}

[[noreturn]] void reject_command(const std::string& word, const std::vector<Command>& commands) {
  const std::vector<std::string> names = names_of(commands);
  std::string suggestion = did_you_mean(word, names);
  const std::string function = word.substr(0, word.find(':'));
  const std::vector<std::string> known = names_of(functions());
  if (std::find(known.begin(), known.end(), function) != known.end()) {
    suggestion = fmt::format("; did you mean 'symport optimize {}'?", word);
  }
  throw UsageError(fmt::format("unknown command '{}', allowed is {}{}\nTry 'symport --help'.", word,
                               join(names), suggestion));
}

/// Gives flags that may stand alone the value that they then stand for: `--round-trip` becomes
/// `--round-trip=usual` unless one of its values follows.
std::vector<std::string> with_implied_values(std::vector<std::string> arguments,
                                             const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (arguments.empty() || arguments[0] != command.name) continue;
    for (const Option& option : command.options) {
      if (option.implied.empty()) continue;
      const std::string choices = "|" + option.value + "|";
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] != flag(option)) continue;
        const bool follows =
            i + 1 < arguments.size() &&
            choices.find(fmt::format("|{}|", arguments[i + 1])) != std::string::npos;
        if (!follows) arguments[i] += "=" + option.implied;
      }
    }
  }
  return arguments;
}

/// With the options of its configuration file, if one is given.
int run_command(const Command& command, Arguments arguments) {
  if (const auto file = arguments.text(config_option)) {
    const std::string text = read_config_text(*file, "--config");
    arguments.merge(parse_config(text, *file, command.name, command.options));
  }
  try {
    return command.run(arguments);
  } catch (const OptionError& error) {
    throw UsageError(origin_of(error.option(), command, arguments), error.detail());
  }
}

/// Parses and dispatches; `program` is set to the words that messages begin with.
int dispatch(std::vector<std::string> arguments, const std::vector<Command>& commands,
             std::string& program) {
  std::vector<std::string> value_flags;
  for (const Command& command : commands) {
    const std::vector<std::string> flags = flags_of(command, true);
    value_flags.insert(value_flags.end(), flags.begin(), flags.end());
    if (!arguments.empty() && arguments[0] == command.name) program = typed_as(command.name);
  }
  arguments = join_values(with_implied_values(std::move(arguments), commands), value_flags);
  if (arguments.empty()) arguments = {"demo"};
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  }

  CLI::App app;
  app.allow_extras();
  app.require_subcommand(0, 1);
  bool version = false, json = false;
  app.add_flag("-V,--version", version);
  app.add_flag("--json", json);
  std::vector<Subcommand> subcommands;
  subcommands.reserve(commands.size());
  for (const Command& command : commands) subcommands.emplace_back(command, app);

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = std::find_if(subcommands.begin(), subcommands.end(),
                                     [](const Subcommand& s) { return s.chosen(); });
    print(chosen == subcommands.end() ? program_help(commands) : command_help(chosen->command()));
    return exit_done;
  } catch (const CLI::ArgumentMismatch& error) {
    // A missing value was found before; what remains is a flag that is given twice.
    const std::string message = error.what();
    throw UsageError(message.substr(0, message.find(':')), "given more than once");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }

  for (const Subcommand& subcommand : subcommands) {
    if (!subcommand.chosen()) continue;
    const Command& command = subcommand.command();
    const std::vector<std::string> leftovers = subcommand.leftovers();
    const auto first_flag = std::find_if(leftovers.begin(), leftovers.end(),
                                         [](const std::string& w) { return w.starts_with("-"); });
    if (first_flag != leftovers.end()) {
      reject_leftover(*first_flag, command.name, flags_of(command, false), commands);
    }
    if (!leftovers.empty()) reject_leftover(leftovers[0], command.name, {});
    return run_command(command, subcommand.arguments());
  }
  if (!app.remaining().empty()) {
    const std::string word = app.remaining()[0];
    if (word.starts_with("-")) reject_leftover(word, "", {"--version", "--json"});
    reject_command(word, commands);
  }
  if (!version) throw UsageError("--json", "it needs a command or --version");
  print(version_text(json));
  return exit_done;
}

/// "-1,2", "-.5", "-inf": what can only be a value.
bool looks_negative(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const std::string_view rest = word.substr(1);
  return (rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.' || rest.starts_with("inf") ||
         rest.starts_with("nan");
}

}  // namespace

std::vector<std::string> join_values(const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& flags) {
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    joined.push_back(arguments[i]);
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (std::find(flags.begin(), flags.end(), name) == flags.end()) continue;
    const auto missing = [&] { throw UsageError(name, "its value is missing"); };
    if (name != arguments[i]) {
      if (name.size() + 1 == arguments[i].size()) missing();
      continue;
    }
    if (i + 1 == arguments.size() || arguments[i + 1].empty()) missing();
    if (!looks_negative(arguments[i + 1]) && arguments[i + 1].starts_with("-")) missing();
    joined.back() += "=" + arguments[++i];
  }
  return joined;
}

int run_program(const std::vector<std::string>& arguments, const std::vector<Command>& commands) {
  std::string program = "symport";
  try {
    return guarded(program, [&] { return dispatch(arguments, commands, program); });
  } catch (...) {
    return exit_failed;
  }
}

}  // namespace symport::cli
