// SPDX-License-Identifier: MIT
#include "config_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "nearest_name.hpp"
#include "parse_numbers.hpp"

namespace symport::cli {

namespace {

constexpr std::uintmax_t largest_file = 1 << 20;

std::string read_text(const std::filesystem::path& file, const std::string& origin) {
  const auto refuse = [&](const std::string& problem) {
    throw UsageError(origin, fmt::format("found '{}' ({}), allowed is a readable TOML file",
                                         file.string(), problem));
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse("a directory");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(std::strerror(errno));
  std::string text(largest_file + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) refuse("it cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > largest_file) refuse("larger than a megabyte");
  return text;
}

/// A scalar as the text that the command line would have; nothing for tables, dates and the like.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return exact_text(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

std::optional<std::string> node_text(const toml::node& node) {
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

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(text),
                              toml::toml_formatter::default_flags &
                                  ~toml::format_flags::allow_literal_strings &
                                  ~toml::format_flags::allow_multi_line_strings);
  return out.str();
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    const std::string text = exact_text(value);
    const bool whole = text.find_first_not_of("+-0123456789") == std::string::npos;
    return whole ? text + ".0" : text;
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string text;
    for (const double value : values) {
      if (!text.empty()) text += ", ";
      text += (*this)(value);
    }
    return "[" + text + "]";
  }
};

}  // namespace

std::vector<ConfigValue> read_config_values(const std::filesystem::path& file,
                                            const std::string& origin) {
  const std::string text = read_text(file, origin);
  toml::table table;
  try {
    table = toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}", file.string(), error.source().begin.line),
                     std::string(error.description()));
  }
  std::vector<ConfigValue> values;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    values.push_back({name, node_text(node),
                      fmt::format("{}:{}: {}", file.string(), key.source().begin.line, name)});
  }
  return values;
}

Given read_config(const std::filesystem::path& file, const Command& command) {
  std::vector<std::string> known{"command"};
  for (const Option& option : command.positionals) known.push_back(option.name);
  for (const Option& option : command.options) {
    if (option.name != "config") known.push_back(option.name);
  }

  Given given;
  for (const auto& [name, value, origin] : read_config_values(file, "--config")) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(origin, fmt::format("unknown key{}\n  allowed are {}",
                                           did_you_mean(name, known), join(known)));
    }
    if (!value) {
      throw UsageError(origin, "allowed is a string, a number, true, false or a list of numbers");
    }
    if (name == "command") {
      if (*value != command.name) {
        throw UsageError(origin,
                         fmt::format("found '{}', but this is symport {}", *value, command.name));
      }
      continue;
    }
    given.set(name, {*value, origin});
  }
  return given;
}

std::string config_text(const std::string& heading, const std::vector<ConfigEntry>& entries) {
  std::string text;
  std::istringstream lines(heading);
  for (std::string line; std::getline(lines, line);) {
    text += line.empty() ? "#\n" : "# " + line + "\n";
  }
  text += "\n";
  for (const ConfigEntry& entry : entries) {
    text += fmt::format("{} = {}", entry.key, std::visit(ValueText{}, entry.value));
    text += entry.comment.empty() ? "\n" : "  # " + entry.comment + "\n";
  }
  return text;
}

}  // namespace symport::cli
