// SPDX-License-Identifier: MIT
// Does teleportation pay on ill-conditioned quadratics? Both methods at their best learning rates,
// from the same starts, by gradient evaluations to a target, those of the teleports included.
#include <cmath>
#include <iostream>
#include <limits>
#include <symport/symport.hpp>

namespace {

using namespace symport;

constexpr double budget = 2000;

/// Evaluations until the loss is a thousandth of that at the start; {budget, infinity}: never.
Bounds cost(const Objective& objective, const Vector& start, double rate,
            const Teleportation<double>& teleport) {
  const double target = 1e-3 * objective.value(start);
  Bounds result{budget, std::numeric_limits<double>::infinity()};
  Vector w = start;
  train(objective, GradientDescent{}, w,
        {.max_steps = static_cast<Index>(budget),
         .learning_rate = rate,
         .teleport = teleport,
         .trace = false,
         .watcher = [&](const TraceRow& row) {
           const bool reached = row.loss <= target && row.evaluations <= budget;
           if (reached) result = {row.evaluations, row.evaluations};
           return !reached && row.evaluations < budget;
         }});
  return result;
}

std::vector<Bounds> costs(const Objective& objective, double rate,
                          const Teleportation<double>& teleport, std::uint64_t first_seed) {
  std::vector<Bounds> list;
  for (std::uint64_t seed = first_seed; seed < first_seed + 12; ++seed) {
    Random random(seed);
    list.push_back(cost(objective, random.normal_matrix(objective.dimension(), 1), rate, teleport));
  }
  return list;
}

/// The costs at the rate of the grid whose median cost is least on other starts.
std::vector<Bounds> tuned(const Objective& objective, const Teleportation<double>& teleport) {
  double best_rate = 0.0, best = std::numeric_limits<double>::infinity();
  for (const double rate : rates_of({.lowest = 1e-5, .highest = 0.1, .per_decade = 5})) {
    const double median = median_interval(costs(objective, rate, teleport, 1000)).median.high;
    if (best_rate == 0.0 || median < best) best_rate = rate, best = median;
  }
  return costs(objective, best_rate, teleport, 0);
}

}  // namespace

int main() {
  const Quadratic objective = Quadratic::diagonal(10, 1000.0);
  const OrthogonalSymmetry symmetry(objective);
  const auto plain = tuned(objective, {});
  const auto teleporting = tuned(objective, {.symmetry = &symmetry, .schedule = at({0})});
  const MedianInterval speed_up = paired_ratio(plain, teleporting);
  std::cout << "speed-up " << speed_up.median.low << ", 95 % interval " << speed_up.interval.low
            << " to " << speed_up.interval.high << '\n';
  // One teleport to the top eigenvector makes gradient descent Newton's method (Prop. 5.7).
  return speed_up.interval.low > 1.0 ? 0 : 1;
}
