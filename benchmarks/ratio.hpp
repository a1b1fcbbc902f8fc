// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace symport::benchmarks {

struct Ratio {
  double median = 0.0;
  double low = 0.0, high = 0.0;  ///< the quartiles
  double seconds_a = 0.0;        ///< median time of one call of a
  double seconds_b = 0.0;
};

template <class Work>
double seconds_per_call(const Work& work, int calls) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / calls;
}

/// Time of a divided by time of b, measured alternately, so that what else the machine does hits
/// both.
template <class A, class B>
Ratio time_ratio(const A& a, const B& b, int rounds, int calls) {
  std::vector<double> ratios, times_a, times_b;
  for (int i = 0; i < rounds; ++i) {
    times_a.push_back(seconds_per_call(a, calls));
    times_b.push_back(seconds_per_call(b, calls));
    ratios.push_back(times_a.back() / times_b.back());
  }
  const auto quantile = [](std::vector<double>& v, double q) {
    std::sort(v.begin(), v.end());
    return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
  };
  return {quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75),
          quantile(times_a, 0.5), quantile(times_b, 0.5)};
}

}  // namespace symport::benchmarks
