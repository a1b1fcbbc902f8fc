// SPDX-License-Identifier: MIT
#include "lab/options/rate_spec.hpp"

#include "lab/text/parse_numbers.hpp"
#include "symport/core/same_name.hpp"

namespace symport::lab {

namespace {

constexpr const char* automatic_word = "auto";

}  // namespace

std::optional<double> RateSpec::constant() const {
  if (automatic() || rate->to_string() != exact_text(rate->initial())) return std::nullopt;
  return rate->initial();
}

std::string RateSpec::text() const { return automatic() ? automatic_word : rate->to_string(); }

RateSpec RateSpec::parse(const std::string& text) {
  if (same_name(text, automatic_word)) return {};
  return {LearningRate::parse(text)};
}

Codec<RateSpec> as_rate() {
  return {RateSpec::parse, [](const RateSpec& spec) {
            const auto number = spec.constant();
            return number ? ConfigValue(*number) : ConfigValue(spec.text());
          }};
}

}  // namespace symport::lab
