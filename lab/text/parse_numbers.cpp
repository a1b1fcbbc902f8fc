// SPDX-License-Identifier: MIT
#include "lab/text/parse_numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

[[noreturn]] void reject(std::string_view text, const std::string& allowed,
                         std::string_view problem = {}) {
  constexpr std::size_t shown = 60;
  std::string found =
      fmt::format("'{}'", text.size() > shown ? fmt::format("{}...", text.substr(0, shown))
                                              : std::string(text));
  if (!problem.empty()) found += fmt::format(" ({})", problem);
  throw InvalidArgument("value", found, allowed);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Without a leading plus sign, which from_chars does not know.
std::string_view unsigned_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

template <class Number>
std::errc convert(std::string_view text, Number& value) {
  text = unsigned_plus(trimmed(text));
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{}) return error;
  return end == last ? std::errc{} : std::errc::invalid_argument;
}

/// Any double, also nan and inf.
double convert_number(std::string_view text, std::string_view whole, const std::string& allowed) {
  double value = 0.0;
  const std::errc error = convert(text, value);
  if (error == std::errc::result_out_of_range)
    reject(whole, allowed, "beyond the range of a double");
  if (error != std::errc{}) reject(whole, allowed);
  return value;
}

}  // namespace

double parse_number(std::string_view text) {
  const std::string allowed = "a finite number";
  const double value = convert_number(text, text, allowed);
  if (!std::isfinite(value)) reject(text, allowed);
  return value;
}

double parse_positive(std::string_view text) {
  const std::string allowed = "a finite number > 0";
  const double value = convert_number(text, text, allowed);
  if (!(std::isfinite(value) && value > 0.0)) reject(text, allowed);
  return value;
}

double parse_bound(std::string_view text) {
  const std::string allowed = "a number > 0, or inf for none";
  const double value = convert_number(text, text, allowed);
  if (!(value > 0.0)) reject(text, allowed);
  return value;
}

Index parse_whole(std::string_view text, Index smallest, Index largest) {
  const std::string allowed = largest == std::numeric_limits<Index>::max()
                                  ? fmt::format("a whole number >= {}", smallest)
                                  : fmt::format("a whole number from {} to {}", smallest, largest);
  Index value = 0;
  const std::errc error = convert(text, value);
  if (error == std::errc::result_out_of_range) reject(text, allowed, "too large a number");
  if (error != std::errc{}) {
    const double number = convert_number(text, text, allowed);
    constexpr double exact =
        9007199254740992.0;  // 2^53: beyond it not every whole number is a double
    if (number != std::floor(number)) reject(text, allowed);
    if (std::abs(number) > exact) reject(text, allowed, "too large a number");
    value = static_cast<Index>(number);
  }
  if (value < smallest || value > largest) reject(text, allowed);
  return value;
}

std::uint64_t parse_seed(std::string_view text) {
  const std::string allowed = "a whole number from 0 to 18446744073709551615";
  std::uint64_t value = 0;
  const std::errc error = convert(text, value);
  if (error == std::errc::result_out_of_range) reject(text, allowed, "too large a number");
  if (error != std::errc{}) reject(text, allowed);
  return value;
}

std::vector<double> parse_list(std::string_view text) {
  std::vector<double> numbers;
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string allowed = "finite numbers separated by commas, like -1,2.5e-3";
    const double value = convert_number(rest.substr(0, comma), text, allowed);
    if (!std::isfinite(value)) reject(text, allowed);
    numbers.push_back(value);
    if (comma == std::string_view::npos) return numbers;
    rest.remove_prefix(comma + 1);
  }
}

std::string exact_text(double value) { return fmt::format("{}", value); }

double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

std::string duration_text(double seconds) {
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace symport::lab
