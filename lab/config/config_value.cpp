// SPDX-License-Identifier: MIT
#include "lab/config/config_value.hpp"

#include <fmt/format.h>

#include "lab/text/parse_numbers.hpp"

namespace symport::lab {

namespace {

struct CommandLineText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return exact_text(value); }
  std::string operator()(const std::string& value) const { return value; }
  template <class Value>
  std::string operator()(const std::vector<Value>& values) const {
    std::string text;
    for (const Value& value : values) text += (text.empty() ? "" : ",") + (*this)(value);
    return text;
  }
};

}  // namespace

std::string text_of(const ConfigValue& value) { return std::visit(CommandLineText{}, value); }

}  // namespace symport::lab
