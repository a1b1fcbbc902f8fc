// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include "lab/compare/budget.hpp"
#include "lab/compare/method.hpp"
#include "lab/options/codec.hpp"
#include "lab/text/parse_numbers.hpp"

/// How the options of comparisons and benchmarks are read and written.
namespace symport::lab::compare {

template <class Value>
Codec<Value> as_form(Value (*parse)(const std::string&), std::string (*text)(const Value&)) {
  return {parse, [text](const Value& value) { return ConfigValue(text(value)); }};
}

inline Codec<double> as_confidence() {
  return {[](const std::string& text) {
            const double value = parse_positive(text);
            if (value < 1.0) return value;
            throw InvalidArgument("confidence", fmt::format("'{}'", text),
                                  "a number between 0 and 1");
          },
          [](const double& value) { return ConfigValue(value); }};
}

inline std::string text_of_method(const Method& method) { return method.text; }
inline std::string text_of_budget(const Budget& budget) { return budget.text(); }
inline Codec<Method> as_method() { return as_form(parse_method, text_of_method); }
inline Codec<Budget> as_budget() { return as_form(parse_budget, text_of_budget); }

}  // namespace symport::lab::compare
