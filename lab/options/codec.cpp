// SPDX-License-Identifier: MIT
#include "lab/options/codec.hpp"

#include <filesystem>

#include "lab/text/parse_numbers.hpp"

namespace symport::lab {

namespace {

ConfigValue text_form(const std::string& text) { return text; }
ConfigValue number_form(const double& number) { return number; }

}  // namespace

Codec<bool> as_switch() {
  return {[](const std::string& text) {
            if (text == "true" || text == "false") return text == "true";
            throw InvalidArgument("switch", fmt::format("'{}'", text), "true or false");
          },
          [](const bool& on) { return ConfigValue(on); }};
}

Codec<std::string> as_text() {
  return {[](const std::string& text) { return text; }, text_form};
}

Codec<std::string> as_path() {
  return {[](const std::string& text) {
            if (text.empty()) throw InvalidArgument("path", "''", "the path of a file");
            return text;
          },
          [](const std::string& path) {
            return ConfigValue(std::filesystem::absolute(path).lexically_normal().string());
          }};
}

Codec<Index> as_whole(Index smallest, Index largest) {
  return {[=](const std::string& text) { return parse_whole(text, smallest, largest); },
          [](const Index& number) { return ConfigValue(std::int64_t{number}); }};
}

Codec<std::uint64_t> as_seed() {
  return {[](const std::string& text) { return parse_seed(text); },
          [](const std::uint64_t& seed) {
            constexpr auto largest = std::numeric_limits<std::int64_t>::max();
            if (seed > static_cast<std::uint64_t>(largest)) {
              return ConfigValue(fmt::format("{}", seed));  // TOML's integers end there
            }
            return ConfigValue(static_cast<std::int64_t>(seed));
          }};
}

Codec<double> as_number() {
  return {[](const std::string& text) { return parse_number(text); }, number_form};
}

Codec<double> as_positive() {
  return {[](const std::string& text) { return parse_positive(text); }, number_form};
}

Codec<double> as_bound() {
  return {[](const std::string& text) { return parse_bound(text); }, number_form};
}

Codec<std::vector<double>> as_numbers() {
  return {[](const std::string& text) { return parse_list(text); },
          [](const std::vector<double>& numbers) { return ConfigValue(numbers); }};
}

Codec<Schedule> as_schedule() {
  return {[](const std::string& text) { return Schedule::parse(text); },
          [](const Schedule& schedule) { return ConfigValue(schedule.to_string()); }};
}

}  // namespace symport::lab
