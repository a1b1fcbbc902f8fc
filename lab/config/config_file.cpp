// SPDX-License-Identifier: MIT
#include "lab/config/config_file.hpp"

#include <fmt/format.h>

#include <sstream>

#include "lab/config/toml_file.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/parse_numbers.hpp"

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

/// Whether the bytes are UTF-8; TOML can hold no others.
bool is_utf8(std::string_view text) {
  std::size_t more = 0;  // bytes that the character still needs
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (more > 0) {
      if ((byte & 0xC0) != 0x80) return false;
      --more;
    } else if (byte >= 0x80) {
      more = byte >= 0xF0 && byte < 0xF5 ? 3 : byte >= 0xE0 ? 2 : 1;
      if (byte < 0xC2 || byte >= 0xF5) return false;
    }
  }
  return more == 0;
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
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + quoted(value);
    return "[" + text + "]";
  }
};

}  // namespace

std::vector<ConfigValue> read_config_values(const std::filesystem::path& file,
                                            const std::string& origin) {
  std::vector<ConfigValue> values;
  const toml::table table = read_toml(file, origin);
  for (const auto& [key, node] : table) {
    values.push_back({std::string(key.str()), toml_text(node), toml_origin(file, key)});
  }
  return values;
}

Given read_config(const std::filesystem::path& file, const std::string& command,
                  const std::vector<Option>& options) {
  return given_by(read_toml(file, "--config"), file, command, options);
}

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
      throw UsageError("--" + entry.key,
                       "found a name that is not UTF-8, which a run directory's "
                       "config.toml cannot hold; allowed is another name, or to "
                       "run without --out");
    }
    text += fmt::format("{} = {}", entry.key, std::visit(ValueText{}, entry.value));
    text += entry.comment.empty() ? "\n" : "  # " + entry.comment + "\n";
  }
  return text;
}

}  // namespace symport::lab
