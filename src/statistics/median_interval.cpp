// SPDX-License-Identifier: MIT
#include "symport/statistics/median_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// P( Bin(n, 1/2) <= k ).
double binomial_half(std::size_t n, std::size_t k) {
  const auto trials = static_cast<double>(n);
  double sum = 0.0;
  for (std::size_t i = 0; i <= k; ++i) {
    const auto hits = static_cast<double>(i);
    sum += std::exp(std::lgamma(trials + 1) - std::lgamma(hits + 1) -
                    std::lgamma(trials - hits + 1) - trials * std::log(2.0));
  }
  return sum;
}

double middle(const std::vector<double>& sorted) {
  const double a = sorted[(sorted.size() - 1) / 2], b = sorted[sorted.size() / 2];
  return a == b ? a : a + (b - a) / 2.0;
}

}  // namespace

MedianInterval median_interval(const std::vector<Bounds>& sample, double confidence) {
  if (sample.empty()) throw InvalidArgument("sample", "no numbers", "at least one");
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument("confidence", fmt::format("{}", confidence), "a number between 0 and 1");
  }
  std::vector<double> lows, highs;
  for (const Bounds& bounds : sample) {
    if (!(bounds.low <= bounds.high)) {
      throw InvalidArgument("sample", fmt::format("{} to {}", bounds.low, bounds.high),
                            "low <= high, neither of them NaN");
    }
    lows.push_back(bounds.low);
    highs.push_back(bounds.high);
  }
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  const std::size_t n = sample.size();
  MedianInterval result{{middle(lows), middle(highs)}, {-infinity, infinity}, 1.0};
  for (std::size_t k = 1; 2 * k <= n; ++k) {
    const double coverage = 1.0 - 2.0 * binomial_half(n, k - 1);
    if (coverage < confidence) break;
    result.interval = {lows[k - 1], highs[n - k]};
    result.coverage = coverage;
  }
  return result;
}

MedianInterval paired_ratio(const std::vector<Bounds>& baseline, const std::vector<Bounds>& method,
                            double confidence) {
  if (baseline.size() != method.size()) {
    throw InvalidArgument("method", fmt::format("{} costs", method.size()),
                          fmt::format("{}, as many as of the baseline", baseline.size()));
  }
  std::vector<Bounds> logarithms;
  for (std::size_t i = 0; i < method.size(); ++i) {
    for (const Bounds& cost : {baseline[i], method[i]}) {
      if (!(cost.low > 0.0 && cost.low < infinity)) {
        throw InvalidArgument("cost", fmt::format("{}", cost.low), "a finite number > 0");
      }
    }
    logarithms.push_back({std::log(baseline[i].low) - std::log(method[i].high),
                          std::log(baseline[i].high) - std::log(method[i].low)});
  }
  MedianInterval result = median_interval(logarithms, confidence);
  for (Bounds* bounds : {&result.median, &result.interval}) {
    *bounds = {std::exp(bounds->low), std::exp(bounds->high)};
  }
  return result;
}

}  // namespace symport
