// SPDX-License-Identifier: MIT
#include "lab/compare/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "lab/compare/infinity.hpp"

namespace symport::lab::compare {

namespace {

/// What every trial costs: known where it reached the target, else more than the budget.
std::vector<Bounds> costs_of(const Entry& entry, const Budget& budget) {
  std::vector<Bounds> costs;
  for (const Trial& trial : entry.trials) {
    if (trial.reached) {
      const double cost = trial.reached->in(budget.unit);
      costs.push_back({cost, cost});
    } else {
      costs.push_back({budget.amount, infinity});
    }
  }
  return costs;
}

/// Pairs of a method with a baseline, gathered over problems.
struct Pairs {
  std::vector<Bounds> baseline{}, method{};

  void add(const Entry& plain, const Entry& other, const Budget& budget) {
    for (const auto& [entry, list] : {std::pair(&plain, &baseline), std::pair(&other, &method)}) {
      const std::vector<Bounds> costs = costs_of(*entry, budget);
      list->insert(list->end(), costs.begin(), costs.end());
    }
  }
};

std::string why_open(const Judgement& j, double confidence) {
  if (j.neither > 0 && std::isinf(j.speed_up.interval.high) && j.speed_up.interval.low == 0.0 &&
      j.neither * 2 >= j.pairs) {
    return fmt::format(
        "neither reached the target in {} of {} pairs; a larger --budget or an easier "
        "--target may tell",
        j.neither, j.pairs);
  }
  if (std::pow(0.5, static_cast<double>(j.pairs) - 1.0) > 1.0 - confidence) {
    return fmt::format("{} {} too few for {:.3g} % confidence; more --seeds may tell", j.pairs,
                       j.pairs == 1 ? "pair is" : "pairs are", 100.0 * confidence);
  }
  return "both a gain and none are possible; more --seeds may tell";
}

std::string words(const Judgement& j, const PairCounts& counts, const Comparison& comparison) {
  const std::string where = j.problem.empty() ? "over all problems" : "on " + j.problem;
  const std::string subject = j.best ? "teleportation" : "it";
  std::string text = j.method + " " + where;
  if (!j.best) text += fmt::format(", against {} alone", j.baseline);
  switch (j.effect) {
    case Effect::helped:
      text += fmt::format(": {} helped: ", subject);
      break;
    case Effect::did_not_help:
      text += fmt::format(": {} did not help{}: ", subject, j.best ? " here" : "");
      break;
    case Effect::cannot_tell:
      text += fmt::format(": {}, which decides nothing: ",
                          counts.text(j.problem.empty() ? "pairs" : "seeds"));
  }
  text += fmt::format("speed-up {} in {}", interval_text(j.speed_up),
                      comparison.options.budget.unit_name());
  if (j.best) {
    text += j.baseline.empty() ? " over the best plain method of each problem"
                               : fmt::format(" over {}, the best plain method", j.baseline);
  }
  if (j.reached < j.pairs || j.baseline_reached < j.pairs) {
    text += fmt::format("; the target was reached in {} of {} runs, without teleports in {}",
                        j.reached, j.pairs, j.baseline_reached);
  }
  switch (j.effect) {
    case Effect::helped:
      return text + (j.reached < j.baseline_reached ? ". But it gets there less often." : ".");
    case Effect::did_not_help:
      if (j.speed_up.interval.high < 1.0) {
        return text + fmt::format(". It was slower by a factor of {:.3g} or more.",
                                  1.0 / j.speed_up.interval.high);
      }
      return text + fmt::format(". A gain of {:.0f} % is ruled out.", 100.0 * (worthwhile - 1.0));
    case Effect::cannot_tell:
      break;
  }
  return text + "; " + why_open(j, comparison.options.confidence) + ".";
}

void finish(Judgement& j, const Pairs& pairs, const Comparison& comparison) {
  j.pairs = pairs.method.size();
  for (std::size_t i = 0; i < j.pairs; ++i) {
    const bool mine = std::isfinite(pairs.method[i].high);
    const bool its = std::isfinite(pairs.baseline[i].high);
    j.reached += mine ? 1 : 0;
    j.baseline_reached += its ? 1 : 0;
    j.neither += mine || its ? 0 : 1;
  }
  j.speed_up = paired_ratio(pairs.baseline, pairs.method, comparison.options.confidence);
  j.effect = outcome_of(j.speed_up);
  j.text = words(j, PairCounts(pairs.method, pairs.baseline), comparison);
}

std::string bound_text(double value) {
  if (std::isinf(value)) return "inf";
  return fmt::format("{:.3g}", value);
}

}  // namespace

std::string_view to_string(Effect outcome) {
  switch (outcome) {
    case Effect::helped:
      return "helped";
    case Effect::did_not_help:
      return "did not help";
    case Effect::cannot_tell:
      break;
  }
  return "cannot tell";
}

PairCounts::PairCounts(const std::vector<Bounds>& method, const std::vector<Bounds>& baseline)
    : pairs(method.size()) {
  for (std::size_t i = 0; i < pairs; ++i) {
    faster += method[i].high < baseline[i].low ? 1 : 0;
    slower += method[i].low > baseline[i].high ? 1 : 0;
  }
}

std::string PairCounts::text(const std::string& tasks) const {
  const auto alone = [&](const char* how, std::size_t count) {
    return count == pairs ? fmt::format("{} on all {} {}", how, count, tasks)
                          : fmt::format("{} on {} of {} {}", how, count, pairs, tasks);
  };
  if (faster == 0 && slower == 0)
    return fmt::format("neither is ahead on any of {} {}", pairs, tasks);
  if (faster == 0) return alone("slower", slower);
  if (slower == 0) return alone("faster", faster);
  return fmt::format("faster on {} and slower on {} of {} {}", faster, slower, pairs, tasks);
}

Effect outcome_of(const MedianInterval& speed_up) {
  if (speed_up.interval.low > 1.0) return Effect::helped;
  if (speed_up.interval.high < worthwhile) return Effect::did_not_help;
  return Effect::cannot_tell;
}

std::string interval_text(const MedianInterval& value) {
  const auto [low, high] = value.median;
  std::string text;
  if (bound_text(low) == bound_text(high)) {
    text = bound_text(low);
  } else if (std::isinf(high)) {
    text = low > 0.0 ? "at least " + bound_text(low) : "unknown";
  } else {
    text = low > 0.0 ? fmt::format("{} to {}", bound_text(low), bound_text(high))
                     : "at most " + bound_text(high);
  }
  return fmt::format("{} [{}, {}{}", text, bound_text(std::max(value.interval.low, 0.0)),
                     bound_text(value.interval.high), std::isinf(value.interval.high) ? ")" : "]");
}

std::vector<double> to_target(const Entry& entry, double Cost::*number) {
  std::vector<double> values;
  for (const Trial& trial : entry.trials) {
    values.push_back(trial.reached ? (*trial.reached).*number : infinity);
  }
  return values;
}

MedianInterval median_of(const std::vector<double>& values, double confidence) {
  std::vector<Bounds> sample;
  for (const double value : values) sample.push_back({value, value});
  return median_interval(sample, confidence);
}

std::optional<std::size_t> best_plain(const Comparison& comparison, const ProblemResult& problem) {
  std::optional<std::size_t> best;
  std::tuple<double, double, double> best_score;
  for (std::size_t m = 0; m < problem.entries.size(); ++m) {
    const Entry& entry = problem.entries[m];
    if (comparison.options.methods[m].teleports() || entry.trials.empty()) continue;
    double missed = 0.0;
    std::vector<double> costs, losses;
    for (const Trial& trial : entry.trials) {
      missed += trial.reached ? 0.0 : 1.0;
      costs.push_back(trial.reached ? trial.reached->in(comparison.options.budget.unit) : infinity);
      losses.push_back(std::isnan(trial.last_loss) ? infinity : trial.last_loss);
    }
    const auto median = [&](const std::vector<double>& values) {
      return median_of(values, comparison.options.confidence).median.high;
    };
    const std::tuple score{missed, median(costs), median(losses)};
    if (best && !(score < best_score)) continue;
    best = m;
    best_score = score;
  }
  return best;
}

std::vector<Judgement> judgements(const Comparison& comparison) {
  std::vector<Judgement> list;
  const std::vector<Method>& methods = comparison.options.methods;
  const Budget& budget = comparison.options.budget;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (!methods[m].teleports() || comparison.seeds.empty()) continue;
    Pairs all, all_own;
    const auto own = std::find_if(methods.begin(), methods.end(), [&](const Method& method) {
      return method.text == methods[m].optimizer;
    });
    const auto plain_form = static_cast<std::size_t>(own - methods.begin());
    const auto judge = [&](const std::string& problem, const std::string& baseline, bool is_best,
                           const Pairs& pairs) {
      Judgement j{methods[m].text, problem, baseline, is_best};
      finish(j, pairs, comparison);
      list.push_back(std::move(j));
    };
    bool another = false;  // the best is somewhere another optimizer
    for (const ProblemResult& problem : comparison.problems) {
      const Entry& entry = problem.entries[m];
      const auto best = best_plain(comparison, problem);
      if (!entry.fits() || !best) continue;
      const std::string& name = problem.problem.name;
      Pairs pairs;
      pairs.add(problem.entries[*best], entry, budget);
      judge(name, methods[*best].text, true, pairs);
      all.add(problem.entries[*best], entry, budget);
      if (own == methods.end() || !problem.entries[plain_form].fits()) continue;
      Pairs own_pairs;
      own_pairs.add(problem.entries[plain_form], entry, budget);
      if (plain_form != *best) judge(name, own->text, false, own_pairs), another = true;
      all_own.add(problem.entries[plain_form], entry, budget);
    }
    if (comparison.problems.size() < 2 || all.method.empty()) continue;
    judge("", "", true, all);
    if (another) judge("", own->text, false, all_own);
  }
  return list;
}

PerformanceProfile profile_of(const Comparison& comparison) {
  const std::size_t seeds = comparison.seeds.size(), methods = comparison.options.methods.size();
  Matrix costs = Matrix::Constant(static_cast<Index>(comparison.problems.size() * seeds),
                                  static_cast<Index>(methods), infinity);
  Index row = 0;
  for (const ProblemResult& problem : comparison.problems) {
    for (std::size_t m = 0; m < methods; ++m) {
      if (!problem.entries[m].fits()) continue;
      for (std::size_t i = 0; i < seeds; ++i) {
        const auto& reached = problem.entries[m].trials[i].reached;
        if (!reached) continue;
        costs(row + static_cast<Index>(i), static_cast<Index>(m)) =
            reached->in(comparison.options.budget.unit);
      }
    }
    row += static_cast<Index>(seeds);
  }
  return PerformanceProfile(costs);
}

}  // namespace symport::lab::compare
