// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "commands/all.hpp"
#include "lab/options/option_table.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

enum class Shell { bash, zsh, fish };
std::string_view to_string(Shell shell) {
  return shell == Shell::bash ? "bash" : shell == Shell::zsh ? "zsh" : "fish";
}

struct CompletionOptions {
  std::optional<Shell> shell = std::nullopt;
};

const OptionTable<CompletionOptions>& completion_options() {
  using S = CompletionOptions;
  static const OptionTable<S> table(
      "Options",
      {row({.name = "shell", .value = "SHELL", .help = "bash, zsh or fish", .positional = true},
           &S::shell, as_choice<Shell>({Shell::bash, Shell::zsh, Shell::fish}))});
  return table;
}

/// "--lr --learning-rate --steps ..."
std::string flags_of(const Command& command) {
  std::vector<std::string> flags;
  for (const Option& option : command.options) {
    if (option.positional) continue;
    flags.push_back("--" + option.name);
    for (const std::string& alias : option.aliases) flags.push_back("--" + alias);
  }
  flags.emplace_back("--help");
  return join(flags, " ");
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string cases;
  for (const Command& command : commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, flags_of(command));
  }
  return fmt::format(
      "# bash completion of symport: source <(symport completion bash)\n"
      "_symport() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} help --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _symport symport\n",
      join(names_of(commands), " "), cases);
}

/// Inside single quotes of zsh and fish.
std::string quoted(std::string_view text, bool for_fish) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += for_fish ? "\\'" : "'\\''";
    } else if (c == '\\' && for_fish) {
      result += "\\\\";
    } else if (!for_fish && (c == '[' || c == ']' || c == ':')) {
      result += fmt::format("\\{}", c);
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result;
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, quoted(command.summary, false));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const Option& option : command.options) {
      if (option.positional) continue;
      cases +=
          fmt::format(" \\\n        '{}--{}[{}]{}'", option.many ? "*" : "", option.name,
                      quoted(option.help, false),
                      option.value.empty() ? "" : ":" + quoted(option.value, false) + ":_files");
    }
    cases += " '*:file:_files'\n      ;;\n";
  }
  return fmt::format(
      "#compdef symport\n"
      "# zsh completion of symport: symport completion zsh > _symport, in a directory of $fpath\n"
      "_symport() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "_symport \"$@\"\n",
      names, cases);
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text =
      "# fish completion of symport: symport completion fish > "
      "~/.config/fish/completions/symport.fish\n";
  for (const Command& command : commands) {
    text += fmt::format("complete -c symport -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command.name, quoted(command.summary, true));
  }
  for (const Command& command : commands) {
    for (const Option& option : command.options) {
      if (option.positional) continue;
      text += fmt::format(
          "complete -c symport -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n", command.name,
          option.name, option.value.empty() ? "" : " -r", quoted(option.help, true));
    }
  }
  return text;
}

int run_completion(const Arguments& arguments) {
  const std::optional<Shell> shell = completion_options().read(arguments).shell;
  if (!shell) throw OptionError("shell", "missing, allowed is bash, zsh, fish");
  const std::vector<Command> commands = all_commands();
  print(*shell == Shell::bash  ? bash_script(commands)
        : *shell == Shell::zsh ? zsh_script(commands)
                               : fish_script(commands));
  return exit_done;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "what a shell needs to complete commands and options",
          .details = "Prints a script for bash, zsh or fish, made from the options there are.",
          .examples =
              "source <(symport completion bash)\n"
              "symport completion zsh > ~/.zfunc/_symport\n"
              "symport completion fish > ~/.config/fish/completions/symport.fish",
          .options = completion_options().options(),
          .run = run_completion};
}

}  // namespace symport::cli
