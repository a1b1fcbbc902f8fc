// SPDX-License-Identifier: MIT
#include "lab/report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport::lab::report {

namespace {

double steps_of(double range, int count) {
  const double rough = range / count, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) return factor * power;
  }
  return 10.0 * power;
}

std::string linear_label(double value) {
  const std::string text = fmt::format("{:.6g}", value == 0.0 ? 0.0 : value);
  return value < 0.0 && text[0] == '-' ? "\u2212" + text.substr(1) : text;
}

}  // namespace

Scale::Scale(double low, double high, double from, double to, bool logarithmic)
    : low_(low), high_(high), from_(from), to_(to), logarithmic_(logarithmic) {}

Scale Scale::around(const std::vector<double>& values, double from, double to, bool logarithmic,
                    bool tight) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0.0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high)
    return logarithmic ? Scale(0.1, 10.0, from, to, true) : Scale(0, 1, from, to, false);
  if (logarithmic) {
    const double room =
        std::max(0.04 * (std::log10(high) - std::log10(low)), high == low ? 0.5 : 0.05);
    const double bottom = std::max(std::log10(low) - room, -307.0);
    const double top = std::min(std::log10(high) + room, 308.0);
    return Scale(std::pow(10.0, bottom), std::pow(10.0, top), from, to, true);
  }
  if (high == low) high += low == 0.0 ? 1.0 : std::abs(low) / 2.0;
  const double room = tight ? 0.0 : 0.05 * (high - low);
  return Scale(low - room, high + room, from, to, false);
}

double Scale::operator()(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0.0)) return std::nan("");
  const double part =
      logarithmic_ ? (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_))
                   : (value - low_) / (high_ - low_);
  return from_ + part * (to_ - from_);
}

std::vector<Tick> Scale::ticks(int count) const {
  std::vector<Tick> ticks;
  if (logarithmic_) {
    const int first = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(high_) + 1e-9));
    if (last - first >= 2) {
      const int stride =
          static_cast<int>(std::max(1.0, steps_of(static_cast<double>(last - first), count)));
      for (int power = first; power <= last; ++power) {
        if (power % stride == 0) ticks.push_back({std::pow(10.0, power), power_of_ten(power)});
      }
      return ticks;
    }
    for (int power = first - 1; power <= last; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10.0, power);
        if (value >= low_ && value <= high_) ticks.push_back({value, fmt::format("{:.3g}", value)});
      }
    }
    if (ticks.size() >= 2) return ticks;
    ticks.clear();
  }
  const double step = steps_of(high_ - low_, count);
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + 1e-9 * step; ++i) {
    ticks.push_back({i * step, linear_label(i * step)});
  }
  return ticks;
}

std::string power_of_ten(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
  return text;
}

}  // namespace symport::lab::report
