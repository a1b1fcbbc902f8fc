// SPDX-License-Identifier: MIT
#include "symport/schedules/schedule.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr Index forever = std::numeric_limits<Index>::max();
constexpr const char* schedule_grammar =
    "never, auto, or a list of steps like 5 | 0,10,20 | 0..40:10 | every:100 | every:100+99";

/// Reads a schedule from left to right; errors point at the character where it got stuck.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ == text_.size(); }
  bool take(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  Index number(Index smallest) {
    const char* first = text_.data() + position_;
    const char* last = text_.data() + text_.size();
    Index value = 0;
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc::result_out_of_range) fail("the number is too large");
    if (error != std::errc{} || *first == '-') fail("a whole number is expected");
    if (value < smallest) fail(fmt::format("the number must be at least {}", smallest));
    position_ += static_cast<std::size_t>(end - first);
    return value;
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw InvalidArgument(
        "schedule", fmt::format("'{}' ({} at character {})", text_, problem, position_ + 1),
        fmt::format("{}\n  {}\n  {:>{}}", schedule_grammar, text_, '^', position_ + 1));
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Schedule Schedule::parse(std::string_view text) {
  Parser parser(text);
  if (parser.take("never") && parser.at_end()) return never();
  parser = Parser(text);
  if (parser.take("auto") && parser.at_end()) return when_it_pays();
  parser = Parser(text);
  Schedule schedule;
  do {
    Range range;
    if (parser.take("every:")) {
      range.stride = parser.number(1);
      if (parser.take("+")) range.first = parser.number(0);
      range.last = forever;
    } else {
      range.first = range.last = parser.number(0);
      if (parser.take("..")) {
        range.last = parser.number(range.first);
        if (parser.take(":")) range.stride = parser.number(1);
      }
    }
    schedule.ranges_.push_back(range);
  } while (parser.take(","));
  if (!parser.at_end()) parser.fail("unexpected text");
  return schedule;
}

std::optional<Index> Schedule::next_after(Index t) const {
  std::optional<Index> next;
  for (const Range& r : ranges_) {
    Index candidate = r.first;
    if (t >= r.first) {
      const Index number = (t - r.first) / r.stride + 1;
      if (number > (r.last - r.first) / r.stride) continue;
      candidate = r.first + number * r.stride;
    }
    if (!next || candidate < *next) next = candidate;
  }
  return next;
}

bool Schedule::contains(Index t) const {
  for (const Range& r : ranges_) {
    if (t >= r.first && t <= r.last && (t - r.first) % r.stride == 0) return true;
  }
  return false;
}

std::string Schedule::to_string() const {
  if (automatic_) return "auto";
  if (ranges_.empty()) return "never";
  std::string text;
  for (const Range& r : ranges_) {
    if (!text.empty()) text += ',';
    if (r.last == forever) {
      text += fmt::format("every:{}", r.stride);
      if (r.first > 0) text += fmt::format("+{}", r.first);
    } else if (r.first == r.last) {
      text += fmt::format("{}", r.first);
    } else {
      text += fmt::format("{}..{}", r.first, r.last);
      if (r.stride > 1) text += fmt::format(":{}", r.stride);
    }
  }
  return text;
}

Schedule every(Index period, Index offset) {
  if (period < 1) {
    throw InvalidArgument("period", fmt::format("{}", period), "a whole number >= 1");
  }
  if (offset < 0) {
    throw InvalidArgument("offset", fmt::format("{}", offset), "a whole number >= 0");
  }
  Schedule schedule;
  schedule.ranges_.push_back({offset, forever, period});
  return schedule;
}

Schedule never() {
  Schedule schedule;
  schedule.never_ = true;
  return schedule;
}

Schedule when_it_pays() {
  Schedule schedule;
  schedule.automatic_ = true;
  return schedule;
}

Schedule at(std::vector<Index> steps) {
  Schedule schedule;
  for (const Index t : steps) {
    if (t < 0) throw InvalidArgument("steps", fmt::format("{}", t), "whole numbers >= 0");
    schedule.ranges_.push_back({t, t, 1});
  }
  return schedule;
}

}  // namespace symport
