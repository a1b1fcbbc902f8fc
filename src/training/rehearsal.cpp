// SPDX-License-Identifier: MIT
#include "symport/training/rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace symport {

namespace {

constexpr double far_ahead = 1000.0;
constexpr Index first_steps = 3;
constexpr double far_above = 10.0;
constexpr double clearly_ahead = 10.0;
constexpr double harm = 2.0;  ///< as docs/safety.md defines it

/// One branch on its way.
template <Real Scalar>
class Walk {
 public:
  Walk(const BasicOptimizer<Scalar>& optimizer, Branch<Scalar> from)
      : optimizer_(optimizer), at_(std::move(from)) {}

  /// The loss here; then one step.
  double step(const BasicObjective<Scalar>& objective, double rate) {
    if (!measured_) optimizer_.measure(objective, at_.w, here_);
    measured_ = false;
    evaluations_ += 1.0;
    const double loss = here_.loss;
    if (std::isfinite(loss)) {
      const StepOutcome outcome = optimizer_.step(objective, here_, rate, at_.state, at_.w);
      evaluations_ += outcome.evaluations;
      measured_ = outcome.measured;
    }
    return loss;
  }
  double evaluations() const { return evaluations_; }
  const VectorOf<Scalar>& w() const { return at_.w; }

 private:
  const BasicOptimizer<Scalar>& optimizer_;
  Branch<Scalar> at_;
  MeasuredPoint<Scalar> here_;
  bool measured_ = false;  ///< `here_` is at_.w
  double evaluations_ = 0.0;
};

double mean(const std::vector<double>& values, std::size_t first, std::size_t last) {
  const auto begin = values.begin();
  return std::accumulate(begin + static_cast<std::ptrdiff_t>(first),
                         begin + static_cast<std::ptrdiff_t>(last), 0.0) /
         static_cast<double>(last - first);
}

/// log(a / b); two losses of zero are equal.
double lead(double a, double b) {
  constexpr double tiny = std::numeric_limits<double>::min();
  return std::log(std::max(a, tiny) / std::max(b, tiny));
}

/// The leads of all steps. A loss below zero leaves open what a ratio of losses means: the lead is
/// then the difference, in units of what the better branch has gained since the start. `lowest` is
/// the lowest of all losses and zero.
std::vector<double> leads_of(const std::vector<double>& a, const std::vector<double>& b,
                             double start, double lowest) {
  const double gain = std::max(std::abs(start - lowest), std::numeric_limits<double>::min());
  std::vector<double> leads;
  for (std::size_t i = 0; i < a.size(); ++i) {
    leads.push_back(lowest >= 0.0 ? lead(a[i], b[i]) : (a[i] - b[i]) / gain);
  }
  return leads;
}

/// "2.5 times", of a lead of log(1/2.5); only ratios can be said so.
std::string times(double lead, bool ratios) {
  return ratios ? fmt::format("{:.3g} times", std::exp(-lead)) : std::string("above");
}

/// The mean lead over the last quarter of the first `count` steps.
double lead_after(const std::vector<double>& leads, std::size_t count) {
  return mean(leads, count - std::max<std::size_t>(1, count / 4), count);
}

/// The lowest lead in the second half.
double lowest_lead(const std::vector<double>& leads) {
  const auto half = leads.begin() + static_cast<std::ptrdiff_t>(leads.size() / 2);
  return *std::min_element(half, leads.end());
}

/// Whether more steps are not worth their cost: the branch is behind, or far enough ahead.
bool settled(const std::vector<double>& leads, Index horizon) {
  const bool beyond = static_cast<Index>(leads.size()) > horizon;
  return lead_after(leads, leads.size()) < (beyond ? -std::log(harm) : 0.0) ||
         lowest_lead(leads) > std::log(clearly_ahead);
}

/// What the leads of all steps say. `ratios`: they are logarithms of ratios; `single`: each of them
/// counts, not only their means.
std::string objection(const std::vector<double>& leads, Index horizon, bool ratios, bool single) {
  const std::size_t count = leads.size(), quarter = std::max<std::size_t>(1, count / 4);
  const double last = lead_after(leads, count);
  if (last >= std::log(far_ahead)) return {};
  const bool beyond = static_cast<Index>(count) > horizon;
  const std::size_t known = beyond ? static_cast<std::size_t>(std::max<Index>(1, horizon)) : count;
  const double then = lead_after(leads, known);
  if (then < 0.0) {
    return fmt::format("after {} rehearsed steps the loss would be {} that of plain ones", known,
                       times(then, ratios));
  }
  const double before = mean(leads, count / 2, std::max(count / 2 + 1, count - quarter));
  const double slope = (last - before) / static_cast<double>(quarter);
  const double left = beyond ? 0.0 : static_cast<double>(horizon - static_cast<Index>(count));
  const double loss_of_lead = std::max(0.0, -slope * left);
  if (!beyond && last < loss_of_lead) {
    if (!ratios) return fmt::format("plain steps catch up, as {} rehearsed steps show", count);
    return fmt::format(
        "plain steps catch up: in {} rehearsed steps the loss falls to {:.3g}, then {:.3g} times "
        "theirs",
        count, std::exp(-before), std::exp(-last));
  }
  const double lowest = lowest_lead(leads) - loss_of_lead;
  if (!single || !ratios || lowest >= -std::log(harm)) return {};
  return fmt::format("{} rehearsed steps show that the loss may end at {} that of plain ones",
                     count, times(lowest, ratios));
}

}  // namespace

template <Real Scalar>
RehearsalOutcome rehearse(const Outlook<Scalar>& outlook, const BasicOptimizer<Scalar>& optimizer,
                          Branch<Scalar> plain, Branch<Scalar> teleported) {
  Walk<Scalar> a(optimizer, std::move(plain)), b(optimizer, std::move(teleported));
  std::vector<double> losses_a, losses_b;
  double start = 0.0;
  double lowest = 0.0;  ///< of all losses and zero
  double monitoring = 0.0;
  const auto outcome = [&](std::string text) {
    return RehearsalOutcome{std::move(text), a.evaluations() + b.evaluations() + monitoring};
  };
  /// The lead on the monitoring set.
  const auto watched_lead = [&] {
    monitoring += 2.0 * outlook.monitor_cost;
    const double loss_a = outlook.monitor(a.w()), loss_b = outlook.monitor(b.w());
    if (!std::isfinite(loss_a)) return 0.0;
    if (!std::isfinite(loss_b)) return -std::numeric_limits<double>::infinity();
    return std::min(loss_a, loss_b) >= 0.0 ? lead(loss_a, loss_b) : loss_a - loss_b;
  };
  std::optional<double> half;  ///< that lead after half of the steps
  /// Nothing speaks against it on the batches of the steps.
  const auto accepted = [&](Index steps) {
    if (!outlook.monitor) return outcome({});
    const double last = watched_lead();
    if (last < 0.0) {
      return outcome(
          fmt::format("after {} rehearsed steps the loss on {} monitored samples would be {} that "
                      "of plain ones",
                      steps, outlook.monitored, times(last, lowest >= 0.0)));
    }
    const Index since = steps - outlook.steps / 2;
    const double left = static_cast<double>(std::max<Index>(0, outlook.horizon - steps));
    if (last >= std::log(far_ahead) || !half ||
        last + (last - *half) / static_cast<double>(since) * left >= 0.0) {
      return outcome({});
    }
    return outcome(
        fmt::format("on {} monitored samples plain steps would catch up: the lead falls "
                    "from {:.3g} to {:.3g} in {} rehearsed steps",
                    outlook.monitored, *half, last, since));
  };
  const auto leads = [&] { return leads_of(losses_a, losses_b, start, lowest); };
  const Index most = std::max(outlook.steps, outlook.most);
  Index enough = outlook.steps;  ///< unless it is open then
  Index i = 0;
  for (; i < most; ++i) {
    if (i == enough) {
      if (!losses_a.empty() && settled(leads(), outlook.horizon)) break;
      enough = std::min(most, 2 * enough);
    }
    const BasicObjective<Scalar>& objective = outlook.objective(i);
    const double rate = outlook.rate(i);
    const double loss_a = a.step(objective, rate), loss_b = b.step(objective, rate);
    if (!std::isfinite(loss_a)) return outcome({});
    if (i == 0) start = loss_b;
    lowest = std::min({lowest, loss_a, loss_b});
    if (!std::isfinite(loss_b) ||
        loss_b - lowest > far_above * (std::max(start, loss_a) - lowest)) {
      return outcome(fmt::format("rehearsed step {} would raise the loss to {:.3g}", i, loss_b));
    }
    if (i == 0) continue;  // the same loss
    losses_a.push_back(loss_a);
    losses_b.push_back(loss_b);
    const bool ahead = lowest >= 0.0 && lead(loss_a, loss_b) >= std::log(far_ahead);
    if (i <= first_steps && ahead) return accepted(i + 1);
    if (outlook.monitor && i + 1 == outlook.steps / 2) half = watched_lead();
  }
  std::string wrong;
  if (!losses_a.empty()) {
    wrong = objection(leads(), outlook.horizon, lowest >= 0.0, !outlook.noisy);
  }
  return wrong.empty() ? accepted(i) : outcome(std::move(wrong));
}

template RehearsalOutcome rehearse(const Outlook<float>&, const BasicOptimizer<float>&,
                                   Branch<float>, Branch<float>);
template RehearsalOutcome rehearse(const Outlook<double>&, const BasicOptimizer<double>&,
                                   Branch<double>, Branch<double>);

}  // namespace symport
