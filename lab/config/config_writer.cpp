// SPDX-License-Identifier: MIT
#include "lab/config/config_writer.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <sstream>

#include "lab/text/errors.hpp"
#include "lab/text/parse_numbers.hpp"
#include "lab/text/utf8.hpp"

namespace symport::lab {

namespace {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(text),
                              toml::toml_formatter::default_flags &
                                  ~toml::format_flags::allow_literal_strings &
                                  ~toml::format_flags::allow_multi_line_strings);
  return out.str();
}

/// The parts of a list, each by `form`, separated by commas.
template <class Values, class Form>
std::string joined(const Values& values, const Form& form, const char* separator) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : separator) + form(value);
  return text;
}

struct TomlText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    const std::string text = exact_text(value);
    const bool whole = text.find_first_not_of("+-0123456789") == std::string::npos;
    return whole ? text + ".0" : text;
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  template <class Value>
  std::string operator()(const std::vector<Value>& values) const {
    return "[" + joined(values, *this, ", ") + "]";
  }
};

}  // namespace

std::string config_text(const std::string& heading, const std::vector<ConfigEntry>& entries) {
  std::string text;
  std::istringstream lines(heading);
  for (std::string line; std::getline(lines, line);) {
    text += line.empty() ? "#\n" : "# " + line + "\n";
  }
  text += "\n";
  for (const ConfigEntry& entry : entries) {
    const auto* words = std::get_if<std::string>(&entry.value);
    if (words && !is_utf8(*words)) {
      throw OptionError(entry.key,
                        "found a name that is not UTF-8, which a run directory's config.toml "
                        "cannot hold; use another name, or run without --out");
    }
    text += fmt::format("{} = {}", entry.key, std::visit(TomlText{}, entry.value));
    text += entry.comment.empty() ? "\n" : "  # " + entry.comment + "\n";
  }
  return text;
}

}  // namespace symport::lab
