// SPDX-License-Identifier: MIT
#include "symport/search/closed_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "symport/core/invalid_argument.hpp"

namespace symport {

ClosedFormSearch::ClosedFormSearch(const ClosedFormOptions& options) : options_(options) {
  if (options.kappa != 0.0 && !(options.kappa > 1.0 && std::isfinite(options.kappa))) {
    throw InvalidArgument("kappa", fmt::format("{}", options.kappa), "a finite number > 1, or 0");
  }
  if (!(options.max_kappa > 1.0 && std::isfinite(options.max_kappa))) {
    throw InvalidArgument("max_kappa", fmt::format("{}", options.max_kappa), "a finite number > 1");
  }
  if (options.trials < 1) {
    throw InvalidArgument("trials", fmt::format("{}", options.trials), "a whole number >= 1");
  }
}

SearchOutcome ClosedFormSearch::run(Orbit& orbit, Criterion& criterion, Random&) const {
  const ClosedForm kind = orbit.closed_form();
  if (!fits(orbit)) throw std::logic_error("ClosedFormSearch: the orbit has no closed form");
  const double start = criterion.begin(orbit);
  const double eta = criterion.rate(orbit);

  if (kind == ClosedForm::point || options_.kappa != 0.0) {
    const bool given = options_.kappa != 0.0;
    const double kappa = given ? options_.kappa : 1.0;
    orbit.solve(criterion.objective(), eta, kappa);
    // A given kappa is the caller's choice: only the criterion's bounds can refuse it.
    if (!given && !Criterion::better(criterion.value(orbit), start)) {
      return {false, "already at the best point of the orbit"};
    }
    if (!criterion.allows(orbit)) return {false, "the best point exceeds the cap or bound"};
    return {true, given ? fmt::format("closed form, kappa {:.6g}", kappa) : "closed form", !given};
  }

  double at = 0.0;  // where the orbit is
  const auto go_to = [&](double log_kappa) {
    if (log_kappa == at) return;
    orbit.solve(criterion.objective(), eta, std::exp(log_kappa));
    at = log_kappa;
  };
  const auto value_at = [&](double log_kappa) {
    go_to(log_kappa);
    return criterion.value(orbit);
  };
  double best = start, best_log = 0.0;
  const auto offer = [&](double log_kappa) {
    const double value = value_at(log_kappa);
    if (!Criterion::better(value, best) || !criterion.allows(orbit)) return false;
    best = value;
    best_log = log_kappa;
    return true;
  };
  // Coarse to fine: a geometric grid, then the gaps beside the best, halved, the upper one where
  // the lower one has nothing better. To ask whether a point
  // is allowed can cost far more than its value, so the grid is asked from its best value
  // downwards. Along growing kappa the values end below the start for good, sooner or later: two in
  // a row, each below the last, are taken for that.
  const double largest = std::log(options_.max_kappa);
  const double spacing = largest / static_cast<double>(options_.trials);
  std::vector<std::pair<double, double>> grid;  // value, log kappa
  double last = start;
  int falls = 0;
  for (Index i = 1; i <= options_.trials && falls < 2; ++i) {
    const double log_kappa = spacing * static_cast<double>(i);
    const double value = value_at(log_kappa);
    if (Criterion::better(value, start)) grid.emplace_back(value, log_kappa);
    falls = value < start && value < last ? falls + 1 : 0;
    last = value;
  }
  std::sort(grid.rbegin(), grid.rend());
  for (std::size_t i = 0; i < grid.size() && best_log == 0.0; ++i) offer(grid[i].second);
  for (double gap = spacing / 2; gap > spacing / 10; gap /= 2) {
    const double centre = best_log;
    const bool found = centre - gap > 0.0 && offer(centre - gap);
    if (!found && centre + gap < largest) offer(centre + gap);
  }
  if (best_log == 0.0) return {false, "no bound kappa improves on the start"};
  go_to(best_log);
  return {true, fmt::format("closed form, kappa {:.6g}", std::exp(best_log)), true};
}

}  // namespace symport
