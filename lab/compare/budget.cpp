// SPDX-License-Identifier: MIT
#include "lab/compare/budget.hpp"

#include <fmt/format.h>

#include "lab/text/parse_numbers.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab::compare {

std::string Budget::text() const {
  return exact_text(amount) + (unit == Unit::evaluations ? "evals" : "s");
}

std::string Budget::unit_name() const {
  return unit == Unit::evaluations ? "gradient evaluations" : "seconds";
}

Budget parse_budget(const std::string& text) {
  const auto ending = [&](const char* unit) { return text.ends_with(unit); };
  const auto number = [&](std::size_t letters) {
    return parse_positive(std::string_view(text).substr(0, text.size() - letters));
  };
  try {
    if (ending("evals")) return {Budget::Unit::evaluations, number(5)};
    if (ending("ms")) return {Budget::Unit::seconds, number(2) / 1000.0};
    if (ending("s")) return {Budget::Unit::seconds, number(1)};
  } catch (const InvalidArgument&) {
  }
  throw InvalidArgument("budget", fmt::format("'{}'", text),
                        "gradient evaluations like 2000evals, or a time like 5s or 500ms");
}

std::string Target::text() const { return (relative ? "rel:" : "") + exact_text(value); }

Target parse_target(const std::string& text) {
  const bool relative = text.starts_with("rel:");
  try {
    if (!relative) return {parse_number(text), false};
    const double part = parse_positive(text.substr(4));
    if (part < 1.0) return {part, true};
  } catch (const InvalidArgument&) {
  }
  throw InvalidArgument("target", fmt::format("'{}'", text),
                        "a loss like 0.1, or a part of the loss at the start like rel:0.001");
}

}  // namespace symport::lab::compare
