// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace symport::lab::compare {

/// How good a learning rate is on the seeds that choose it: first by how many runs reach the
/// target, then by what that costs (the whole budget where it is not reached), then by the loss at
/// the end. Less is better.
struct RateScore {
  double missed = 0.0, cost = 0.0, loss = 0.0;

  /// `reached_at`: the cost to the target, if the run got there.
  void add(std::optional<double> reached_at, double budget, double last_loss) {
    missed += reached_at ? 0.0 : 1.0;
    cost += std::log(reached_at.value_or(budget));
    const double last = std::isnan(last_loss) ? std::numeric_limits<double>::infinity() : last_loss;
    loss += reached_at ? 0.0 : std::log(std::max(last, 1e-300));
  }
  bool operator<(const RateScore& other) const {
    return std::tie(missed, cost, loss) < std::tie(other.missed, other.cost, other.loss);
  }
};

}  // namespace symport::lab::compare
