// SPDX-License-Identifier: MIT
#include "symport/statistics/performance_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport {

PerformanceProfile::PerformanceProfile(const Matrix& costs)
    : problems_(costs.rows()), ratios_(static_cast<std::size_t>(costs.cols())) {
  if (costs.size() == 0) {
    throw InvalidArgument("costs", fmt::format("{} x {}", costs.rows(), costs.cols()),
                          "at least one problem and one solver");
  }
  for (Index p = 0; p < costs.rows(); ++p) {
    for (Index s = 0; s < costs.cols(); ++s) {
      if (!(costs(p, s) > 0.0)) {
        throw InvalidArgument("costs", fmt::format("{}", costs(p, s)), "a number > 0 or infinity");
      }
    }
    const double best = costs.row(p).minCoeff();
    for (Index s = 0; s < costs.cols(); ++s) {
      if (std::isfinite(costs(p, s))) {
        ratios_[static_cast<std::size_t>(s)].push_back(costs(p, s) / best);
      }
    }
  }
  for (auto& ratios : ratios_) std::sort(ratios.begin(), ratios.end());
}

double PerformanceProfile::at(Index solver, double tau) const {
  const std::vector<double>& list = ratios(solver);
  const auto solved = std::upper_bound(list.begin(), list.end(), tau) - list.begin();
  return static_cast<double>(solved) / static_cast<double>(problems_);
}

}  // namespace symport
