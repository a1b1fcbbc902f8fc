// SPDX-License-Identifier: MIT
#include "symport/search/closed_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr const char* does_not_pay = "what it gains does not pay for the search";

/// Where an orbit is among its candidates. It moves only when it must: to be somewhere can be
/// cheaper than to go there again.
class Itinerary {
 public:
  struct Stop {
    const Candidate* candidate = nullptr;  ///< null: the start
    double kappa = 1.0;
    bool operator==(const Stop&) const = default;
  };

  /// False when the stop is outside of the action's domain.
  bool go(const Stop& stop) {
    if (stop == at_) return inside_;
    at_ = stop;
    inside_ = stop.candidate->go(stop.kappa);
    return inside_;
  }

 private:
  Stop at_;
  bool inside_ = true;
};

/// The best of all candidates so far.
class Choice {
 public:
  Choice(Criterion& criterion, const ClosedFormOptions& options)
      : criterion_(criterion), options_(options), start_(criterion.begin()), value_(start_) {}

  /// Takes the destination if it is better than all before and allowed. Returns what is wrong with
  /// it else.
  std::string offer_point(const Candidate& candidate) {
    const Itinerary::Stop stop{&candidate, 1.0};
    const double value = value_at(stop);
    if (!Criterion::better(value, value_)) return "already at the best point of the orbit";
    if (!criterion_.pays(value)) return does_not_pay;
    if (!criterion_.allows()) return "a better point exists, but " + criterion_.refusal();
    take(stop, value);
    return {};
  }

  /// The same for the best member of a family.
  ///
  /// Coarse to fine: a geometric grid, then the gaps beside the best, halved, the upper one where
  /// the lower one has nothing better. To ask whether a point is allowed can cost far more than its
  /// value, so the grid is asked from its best value downwards. Along growing kappa the values end
  /// below the start for good, sooner or later: two in a row, each below the last, are taken for
  /// that.
  std::string offer_family(const Candidate& candidate) {
    const double largest = std::log(options_.max_kappa);
    const double spacing = largest / static_cast<double>(options_.trials);
    std::vector<std::pair<double, double>> grid;  // value, log kappa
    double last = start_;
    int falls = 0;
    for (Index i = 1; i <= options_.trials && falls < 2; ++i) {
      const double log_kappa = spacing * static_cast<double>(i);
      const double value = value_at({&candidate, std::exp(log_kappa)});
      if (Criterion::better(value, start_)) grid.emplace_back(value, log_kappa);
      falls = value < start_ && value < last ? falls + 1 : 0;
      last = value;
    }
    double best_log = 0.0;
    std::string refusal;
    const auto offer = [&](double log_kappa) {
      const Itinerary::Stop stop{&candidate, std::exp(log_kappa)};
      const double value = value_at(stop);
      if (!Criterion::better(value, value_)) return false;
      if (!criterion_.allows()) {
        refusal = criterion_.refusal();
        return false;
      }
      take(stop, value);
      best_log = log_kappa;
      return true;
    };
    std::sort(grid.rbegin(), grid.rend());
    if (!grid.empty() && !criterion_.pays(grid.front().first)) return does_not_pay;
    // To ask for one is all that a search which has to pay for itself can afford.
    if (criterion_.must_pay()) grid.resize(std::min<std::size_t>(grid.size(), 1));
    for (std::size_t i = 0; i < grid.size() && best_log == 0.0; ++i) offer(grid[i].second);
    const auto verdict = [&]() -> std::string {
      if (best_log != 0.0) return "";
      return refusal.empty() ? "no bound kappa improves on the start"
                             : "better points exist, but " + refusal;
    };
    if (criterion_.must_pay()) return verdict();
    for (double gap = spacing / 2; gap > spacing / 10; gap /= 2) {
      const double centre = best_log;
      const bool found = centre - gap > 0.0 && offer(centre - gap);
      if (!found && centre + gap < largest) offer(centre + gap);
    }
    return verdict();
  }

  /// A member of a family that the caller has chosen: only cap and bound can refuse it. Of several
  /// families the best is taken.
  std::string offer_given(const Candidate& candidate, double kappa, bool only_one) {
    const Itinerary::Stop stop{&candidate, kappa};
    if (!itinerary_.go(stop)) {
      return fmt::format("kappa {:.6g} leaves the domain of the action", kappa);
    }
    if (!criterion_.allows()) {
      return fmt::format("kappa {:.6g} is refused: {}", kappa, criterion_.refusal());
    }
    const double value = only_one ? nan : criterion_.value();
    if (best_.candidate == nullptr || Criterion::better(value, value_)) take(stop, value);
    return {};
  }

  bool taken() const { return best_.candidate != nullptr; }
  /// Null when nothing was taken; else the orbit is there now.
  const Candidate* settle() {
    if (best_.candidate != nullptr) itinerary_.go(best_);
    return best_.candidate;
  }
  double kappa() const { return best_.kappa; }

 private:
  double value_at(const Itinerary::Stop& stop) {
    return itinerary_.go(stop) ? criterion_.value() : nan;
  }
  void take(const Itinerary::Stop& stop, double value) {
    best_ = stop;
    value_ = value;
  }

  Criterion& criterion_;
  const ClosedFormOptions& options_;
  Itinerary itinerary_;
  double start_, value_;
  Itinerary::Stop best_;
};

}  // namespace

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
  if (!fits(orbit)) throw std::logic_error("ClosedFormSearch: the orbit has no closed form");
  Choice choice(criterion, options_);
  const std::vector<Candidate> candidates = orbit.candidates(criterion.preference());
  const bool given = options_.kappa != 0.0;
  const auto families = std::count_if(candidates.begin(), candidates.end(),
                                      [](const Candidate& c) { return c.family; });
  std::string reason;
  for (const Candidate& candidate : candidates) {
    if (given ? !candidate.family && families : candidate.fallback && candidate.family) continue;
    if (candidate.fallback && (choice.taken() || criterion.must_pay())) break;
    const std::string wrong = given ? choice.offer_given(candidate, options_.kappa, families <= 1)
                              : candidate.family ? choice.offer_family(candidate)
                                                 : choice.offer_point(candidate);
    if (reason.empty()) reason = wrong;
  }
  const Candidate* best = choice.settle();
  if (candidates.empty()) reason = "the orbit knows no destination here";
  if (best == nullptr) return {false, reason};
  // A kappa that was given is the caller's choice, not the criterion's.
  if (!given && !best->family) return {true, best->name, true};
  return {true, fmt::format("{}, kappa {:.6g}", best->name, choice.kappa()), !given};
}

}  // namespace symport
