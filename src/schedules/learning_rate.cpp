// SPDX-License-Identifier: MIT
#include "symport/schedules/learning_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr const char* rate_grammar =
    "a finite number > 0, step:RATE,FACTOR,PERIOD, cosine:RATE,PERIOD or linear:RATE,PERIOD";

[[noreturn]] void reject(std::string_view text) {
  throw InvalidArgument("learning_rate", fmt::format("'{}'", text), rate_grammar);
}

/// Comma-separated numbers, all of them read to their last character.
std::vector<double> numbers_in(std::string_view list, std::string_view whole) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    double value = 0.0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || end != item.data() + item.size()) reject(whole);
    numbers.push_back(value);
    if (comma == std::string_view::npos) return numbers;
    list.remove_prefix(comma + 1);
  }
}

Index whole_number(double value, std::string_view text) {
  if (!(value >= 1 && value <= 1e15 && value == std::floor(value))) reject(text);
  return static_cast<Index>(value);
}

}  // namespace

LearningRate::LearningRate(double rate) : rate_(rate) {
  if (!(std::isfinite(rate) && rate > 0)) {
    throw InvalidArgument("learning_rate", fmt::format("{}", rate), "a finite number > 0");
  }
}

LearningRate LearningRate::step(double rate, double factor, Index period) {
  LearningRate result(rate);
  if (!(factor > 0 && factor <= 1)) {
    throw InvalidArgument("learning_rate factor", fmt::format("{}", factor), "a number > 0, <= 1");
  }
  if (period < 1) {
    throw InvalidArgument("learning_rate period", fmt::format("{}", period), "a whole number >= 1");
  }
  result.kind_ = Kind::step;
  result.factor_ = factor;
  result.period_ = period;
  return result;
}

LearningRate LearningRate::cosine(double rate, Index period) {
  LearningRate result = step(rate, 1.0, period);
  result.kind_ = Kind::cosine;
  return result;
}

LearningRate LearningRate::linear(double rate, Index period) {
  LearningRate result = step(rate, 1.0, period);
  result.kind_ = Kind::linear;
  return result;
}

LearningRate LearningRate::parse(std::string_view text) {
  if (text.starts_with("step:")) {
    const auto n = numbers_in(text.substr(5), text);
    if (n.size() != 3) reject(text);
    return step(n[0], n[1], whole_number(n[2], text));
  }
  for (const auto& [name, make] : {std::pair{"cosine:", &cosine}, std::pair{"linear:", &linear}}) {
    if (!text.starts_with(name)) continue;
    const auto n = numbers_in(text.substr(7), text);
    if (n.size() != 2) reject(text);
    return make(n[0], whole_number(n[1], text));
  }
  const auto n = numbers_in(text, text);
  if (n.size() != 1 || !(std::isfinite(n[0]) && n[0] > 0)) reject(text);
  return LearningRate(n[0]);
}

double LearningRate::varying(double t) const {
  const double period = static_cast<double>(period_);
  const double part = std::min(1.0, t / period);
  switch (kind_) {
    case Kind::constant:
      return rate_;
    case Kind::step:
      return rate_ * std::pow(factor_, std::floor(t / period));
    case Kind::cosine:
      return 0.5 * rate_ * (1.0 + std::cos(std::numbers::pi * part));
    case Kind::linear:
      return rate_ * (1.0 - part);
  }
  return rate_;
}

std::string LearningRate::to_string() const {
  switch (kind_) {
    case Kind::constant:
      return fmt::format("{}", rate_);
    case Kind::step:
      return fmt::format("step:{},{},{}", rate_, factor_, period_);
    case Kind::cosine:
      return fmt::format("cosine:{},{}", rate_, period_);
    case Kind::linear:
      return fmt::format("linear:{},{}", rate_, period_);
  }
  return {};
}

}  // namespace symport
