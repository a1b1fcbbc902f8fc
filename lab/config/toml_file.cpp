// SPDX-License-Identifier: MIT
#include "lab/config/toml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "lab/config/config_reader.hpp"
#include "lab/text/parse_numbers.hpp"
#include "lab/text/suggestion.hpp"

namespace symport::lab {

namespace {

constexpr std::uintmax_t largest_file = 1 << 20;

/// Tables may be nested as deeply as a key has dots, and the library calls itself once a level:
/// a file of nothing but dots would exhaust the stack. So their number is bounded, those of plain
/// numbers like 0.5 not counted.
bool nested_too_deeply(std::string_view text) {
  constexpr int most_dots = 1000;
  int dots = 0;
  bool plain_number = false;  // digits so far, and no dot before them
  char before = '\n';
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '.') {
      if (!plain_number) ++dots;
      plain_number = false;
    } else if (digit && !(before >= '0' && before <= '9')) {
      plain_number = before != '.';
    } else if (!digit) {
      plain_number = false;
    }
    before = c;
  }
  return dots > most_dots;
}

/// A scalar as the text that the command line would have; nothing for tables, dates and the like.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return exact_text(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

/// The strings of a list; nothing where it is anything else.
std::optional<std::vector<std::string>> string_list(const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> words;
  for (const toml::node& item : *list) {
    if (!item.is_string()) return std::nullopt;
    words.push_back(item.as_string()->get());
  }
  return words;
}

}  // namespace

std::string read_config_text(const std::filesystem::path& file, const std::string& origin) {
  const auto refuse = [&](const std::string& problem) {
    throw UsageError(origin, fmt::format("{}: {}", file.string(), problem));
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (is_directory(status)) refuse("a directory, not a TOML file");
  // Only to open a pipe could take for ever.
  if (exists(status) && !is_regular_file(status))
    refuse("a pipe, device or socket, not a TOML file");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(errno == ENOENT ? "no such file" : std::strerror(errno));
  std::string text;
  std::array<char, 4096> part;
  do {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  } while (in && text.size() <= largest_file);
  if (in.bad()) refuse("it cannot be read");
  if (text.size() > largest_file) refuse("larger than a megabyte");
  return text;
}

toml::table parse_toml(const std::string& text, const std::string& file) {
  if (nested_too_deeply(text)) {
    throw UsageError(file, "found more than 1000 dots, allowed are keys of a few parts");
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}", file, error.source().begin.line),
                     std::string(error.description()));
  }
}

toml::table read_toml(const std::filesystem::path& file, const std::string& origin) {
  return parse_toml(read_config_text(file, origin), file.string());
}

std::optional<std::string> toml_text(const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return scalar_text(node);
  std::string text;
  for (const toml::node& item : *list) {
    if (!item.is_number()) return std::nullopt;
    if (!text.empty()) text += ',';
    text += *scalar_text(item);
  }
  return text;
}

std::string toml_origin(const std::filesystem::path& file, const toml::key& key) {
  return fmt::format("{}:{}: {}", file.string(), key.source().begin.line, key.str());
}

Arguments toml_arguments(const toml::table& table, const std::filesystem::path& file,
                         const std::string& command, const std::vector<Option>& options) {
  std::vector<std::string> known{"command"};
  for (const Option& option : options) {
    if (!is_typed_only(option.name) && option.name != "config") known.push_back(option.name);
  }
  Arguments arguments;
  for (const auto& [key, node] : table) {
    std::string name(key.str());
    const std::string origin = toml_origin(file, key);
    for (const Option& option : options) {
      if (option.is_called(name)) name = option.name;
    }
    if (is_typed_only(name)) {
      throw UsageError(origin, fmt::format("only the command line can {} (--{}); remove this line",
                                           name == "force" ? "allow files to be replaced"
                                                           : "choose where results are written",
                                           name));
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(origin, fmt::format("unknown key{}\n  allowed are {}",
                                           did_you_mean(name, known), join(known)));
    }
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& other) { return other.name == name; });
    if (option != options.end() && option->many) {
      const auto words = string_list(node);
      if (!words) throw UsageError(origin, "allowed is a list of strings, [\"...\", \"...\"]");
      for (const std::string& word : *words) arguments.add({name, word, origin});
      continue;
    }
    const std::optional<std::string> value = toml_text(node);
    if (!value) {
      throw UsageError(origin, "allowed is a string, a number, true, false or a list of numbers");
    }
    if (name != "command") {
      arguments.add({name, *value, origin});
    } else if (*value != command) {
      throw UsageError(origin, fmt::format("found '{}', but this is symport {}", *value, command));
    }
  }
  return arguments;
}

}  // namespace symport::lab
