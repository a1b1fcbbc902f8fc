// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <vector>

#include "symport/statistics/quantile.hpp"

namespace symport::benchmarks {

/// Processor time of this process: for one thread on an idle machine that of the wall clock, and
/// blind to others on a busy one.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of one call.
template <class Work>
double seconds_of(const Work& work) {
  const double began = processor_seconds();
  work();
  return processor_seconds() - began;
}

struct Ratio {
  double median = 0.0;
  double low = 0.0, high = 0.0;  ///< the quartiles
};

/// Of ratios that were measured one after the other.
inline Ratio summarize(const std::vector<double>& ratios) {
  return {median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)};
}

/// Times of several kinds of work, measured in turn, round after round, so that what else the
/// machine does hits all of them.
class Alternating {
 public:
  explicit Alternating(std::size_t kinds) : seconds_(kinds) {}

  /// Runs all kinds `rounds` times; each returns the seconds that count. The first round, in which
  /// caches and clocks warm up, is not kept.
  template <class... Kinds>
  void run(int rounds, const Kinds&... kinds) {
    for (int round = 0; round <= rounds; ++round) {
      std::size_t i = 0;
      const auto keep = [&](double seconds) {
        if (round > 0) seconds_[i].push_back(seconds);
        ++i;
      };
      (keep(kinds()), ...);
    }
  }

  /// The same for kinds that are known only when the program runs.
  void run(int rounds, const std::vector<std::function<double()>>& kinds) {
    for (int round = 0; round <= rounds; ++round) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const double seconds = kinds[i]();
        if (round > 0) seconds_[i].push_back(seconds);
      }
    }
  }

  /// Time of kind a over that of kind b, round by round, each divided by its number of units.
  Ratio ratio(std::size_t a, std::size_t b, double units_a = 1.0, double units_b = 1.0) const {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < seconds_[a].size(); ++round) {
      ratios.push_back(seconds_[a][round] / units_a / (seconds_[b][round] / units_b));
    }
    return summarize(std::move(ratios));
  }
  double median_seconds(std::size_t kind) const { return summarize(seconds_[kind]).median; }

 private:
  std::vector<std::vector<double>> seconds_;
};

}  // namespace symport::benchmarks
