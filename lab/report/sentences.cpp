// SPDX-License-Identifier: MIT
#include "lab/report/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/report.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/statistics/quantile.hpp"

namespace symport::lab::report {

namespace {

double last_value(const RunRecord& run, const Measure& measure) {
  return run.trace[measure.column].back();
}

/// Of all runs of a series; what is not a number counts as infinitely bad.
double median_end(const RunSeries& series, const Measure& measure) {
  const double worst = (measure.larger_is_better ? -1.0 : 1.0) * HUGE_VAL;
  std::vector<double> ends;
  for (const RunRecord* run : series.runs) {
    const double end = last_value(*run, measure);
    ends.push_back(std::isnan(end) ? worst : end);
  }
  return median(std::move(ends));
}

/// What is not a number is worse than every number.
bool better(double a, double b, const Measure& measure) {
  if (!std::isfinite(b)) return std::isfinite(a);
  if (!std::isfinite(a)) return false;
  return measure.larger_is_better ? a > b : a < b;
}

/// "0.1113", "nowhere (it diverged)", "0.1113 (2 of 5 runs diverged)"
std::string end_text(const RunSeries& series, const Measure& measure) {
  const auto diverged =
      std::count_if(series.runs.begin(), series.runs.end(), [&](const RunRecord* run) {
        return run->status == RunStatus::diverged || !std::isfinite(last_value(*run, measure));
      });
  if (series.runs.size() == 1 && diverged == 1) return "nowhere (it diverged)";
  std::string text = short_text(median_end(series, measure));
  if (diverged > 0) {
    text += fmt::format(" ({} of {} runs diverged)", diverged, series.runs.size());
  }
  return text;
}

double last_evaluations(const RunRecord& run) { return run.trace["evaluations"].back(); }

/// Where a run is when it has spent so many evaluations.
double value_at_cost(const RunRecord& run, const Measure& measure, double cost) {
  const std::vector<double>& spent = run.trace["evaluations"];
  const auto after = std::upper_bound(spent.begin(), spent.end(), cost);
  const auto row = after == spent.begin() ? spent.begin() : after - 1;
  return run.trace[measure.column][static_cast<std::size_t>(row - spent.begin())];
}

/// Two numbers for each seed, with teleports and without.
struct Paired {
  std::vector<double> with{}, without{};
  std::size_t wins = 0;

  void add(double a, double b, const Measure& measure) {
    const double worst = (measure.larger_is_better ? -1.0 : 1.0) * HUGE_VAL;
    with.push_back(std::isnan(a) ? worst : a);
    without.push_back(std::isnan(b) ? worst : b);
    wins += better(a, b, measure) ? 1 : 0;
  }
  /// The rule: a better median, and more than half of the seeds.
  bool helped(const Measure& measure) const {
    return better(median(with), median(without), measure) && 2 * wins > with.size();
  }
  /// ", lower with in 2 of 3 seeds"
  std::string seeds(const Measure& measure) const {
    return fmt::format(", {} with in {} of {} seed{}",
                       measure.larger_is_better ? "higher" : "lower", wins, with.size(),
                       with.size() == 1 ? "" : "s");
  }
};

struct Comparison {
  std::string text;
  bool helped = false;               ///< in the end
  bool helped_at_equal_cost = true;  ///< too, where the cost is known
};

Comparison compare(const RunSeries& with, const RunSeries& without, const Measure& measure) {
  Paired ends, equal;
  std::vector<double> budgets, costs_with, costs_without;
  for (const RunRecord* a : with.runs) {
    const auto found = std::find_if(without.runs.begin(), without.runs.end(),
                                    [&](const RunRecord* run) { return run->seed() == a->seed(); });
    if (found == without.runs.end()) continue;
    const RunRecord& b = **found;
    ends.add(last_value(*a, measure), last_value(b, measure), measure);
    if (!a->trace.has("evaluations") || !b.trace.has("evaluations")) continue;
    costs_with.push_back(last_evaluations(*a));
    costs_without.push_back(last_evaluations(b));
    budgets.push_back(std::min(costs_with.back(), costs_without.back()));
    equal.add(value_at_cost(*a, measure, budgets.back()), value_at_cost(b, measure, budgets.back()),
              measure);
  }
  Comparison result;
  if (ends.with.empty()) {  // no seed in common
    result.helped = better(median_end(with, measure), median_end(without, measure), measure);
    result.text =
        fmt::format("{} with and {} without", end_text(with, measure), end_text(without, measure));
    return result;
  }
  result.helped = ends.helped(measure);
  if (!budgets.empty()) {
    result.helped_at_equal_cost = equal.helped(measure);
    result.text = fmt::format("at equal cost, {} gradients, {} with and {} without{}; in the end ",
                              short_text(median(budgets)), short_text(median(equal.with)),
                              short_text(median(equal.without)), equal.seeds(measure));
  }
  const auto cost = [](const std::vector<double>& costs) {
    return costs.empty() ? std::string()
                         : fmt::format(" ({} gradients)", short_text(median(costs)));
  };
  result.text +=
      fmt::format("{} with{} and {} without{}{}", end_text(with, measure), cost(costs_with),
                  end_text(without, measure), cost(costs_without), ends.seeds(measure));
  return result;
}

constexpr const char* rule =
    " Numbers are medians; better means a better median and more than half of the seeds. As "
    "expected: better at equal cost and in the end; partly: one of them.";

/// "up to step 1000, in 0.0079 s with and 0.0003 s without"
std::string effort(const RunSeries& with, const RunSeries& without) {
  const auto seconds = [](const RunSeries& series) {
    return median_end(series, {.column = "seconds", .name = "seconds"});
  };
  const TraceColumns& trace = with.first().trace;
  const TraceColumns& other = without.first().trace;
  const bool alike = trace[trace.index].back() == other[other.index].back();
  return fmt::format("{}{} s with and {} s without",
                     alike ? fmt::format("up to {} {}, in ", trace.index, trace[trace.index].back())
                           : std::string(),
                     short_text(seconds(with)), short_text(seconds(without)));
}

struct Pair {
  const RunSeries* with;
  const RunSeries* without;
};

std::vector<Pair> comparable(const ProblemRuns& problem) {
  std::vector<Pair> pairs;
  for (const RunSeries& with : problem.series) {
    for (const RunSeries& without : problem.series) {
      if (with.teleports && !without.teleports && with.base == without.base) {
        pairs.push_back({&with, &without});
      }
    }
  }
  return pairs;
}

Finding without_comparison(const ProblemRuns& problem, const Measure& measure) {
  std::vector<std::string> parts;
  std::size_t went = 0, runs = 0;
  for (const RunSeries& series : problem.series) {
    std::vector<double> starts;
    for (const RunRecord* run : series.runs) {
      const std::size_t first = measure.column == "train_loss" ? run->trace.first_loss() : 0;
      starts.push_back(run->trace[measure.column][first]);
    }
    runs += series.runs.size();
    const double start = median(std::move(starts));
    const bool good = better(median_end(series, measure), start, measure);
    went += good ? 1 : 0;
    parts.push_back(fmt::format("{}from {} to {}",
                                problem.series.size() > 1 ? series.name + ": " : std::string(),
                                short_text(start), end_text(series, measure)));
  }
  const bool teleports = std::any_of(problem.series.begin(), problem.series.end(),
                                     [](const RunSeries& series) { return series.teleports; });
  Finding finding;
  finding.text = fmt::format("The {} should {}{} {}{}.", measure.name,
                             measure.larger_is_better ? "rise" : "fall",
                             parts.size() > 1 ? "; it went:" : ": it went", join(parts, "; "),
                             runs > problem.series.size() ? " (medians)" : "");
  if (teleports) {
    finding.text +=
        " No run without teleports has the same configuration, so it is unknown whether they "
        "helped.";
    return finding;
  }
  finding.verdict = went == problem.series.size() ? Verdict::as_expected
                    : went > 0                    ? Verdict::partly
                                                  : Verdict::not_confirmed;
  return finding;
}

/// The row after the first accepted teleport; 0 without one.
std::size_t first_teleport(const RunRecord& run) {
  if (!run.trace.has("teleported")) return 0;
  const std::vector<double>& teleported = run.trace["teleported"];
  const auto found =
      std::find_if(teleported.begin(), teleported.end(), [](double flag) { return flag != 0.0; });
  return found == teleported.end() ? 0 : static_cast<std::size_t>(found - teleported.begin());
}

struct LossRange {
  double low, high;
};

/// From the loss of a row down to the smallest that follows.
LossRange losses_from(const RunRecord& run, std::size_t row) {
  const std::vector<double>& loss = run.trace.loss();
  LossRange range{loss[row], loss[row]};
  for (std::size_t i = row; i < loss.size(); ++i) {
    if (loss[i] > 0.0) range.low = std::min(range.low, loss[i]);
  }
  return range;
}

/// The squared gradient where the loss first falls to `loss`, between rows along straight lines in
/// the logarithms. NaN when it does not.
double gradient_at(const RunRecord& run, std::size_t from, double loss) {
  const std::vector<double>&losses = run.trace.loss(), &squares = run.trace["grad_sq"];
  for (std::size_t i = from + 1; i < losses.size(); ++i) {
    if (!(losses[i] <= loss)) continue;
    const double a = std::log(losses[i - 1]), b = std::log(losses[i]);
    const double part = b < a ? (a - std::log(loss)) / (a - b) : 1.0;
    return std::exp((1.0 - part) * std::log(squares[i - 1]) + part * std::log(squares[i]));
  }
  return std::nan("");
}

std::vector<const Certificate*> accepted(const ProblemRuns& problem) {
  std::vector<const Certificate*> list;
  for (const RunSeries& series : problem.series) {
    for (const RunRecord* run : series.runs) {
      for (const Certificate& certificate : run->teleports) {
        if (certificate.accepted) list.push_back(&certificate);
      }
    }
  }
  return list;
}

}  // namespace

Finding end_finding(const ProblemRuns& problem, const Measure& measure) {
  const std::vector<Pair> pairs = comparable(problem);
  if (pairs.empty()) return without_comparison(problem, measure);
  const char* direction = measure.larger_is_better ? "higher" : "lower";
  std::size_t helped = 0, at_equal_cost = 0;
  std::vector<std::string> parts;
  for (const Pair& pair : pairs) {
    const Comparison comparison = compare(*pair.with, *pair.without, measure);
    helped += comparison.helped ? 1 : 0;
    at_equal_cost += comparison.helped_at_equal_cost ? 1 : 0;
    std::string part = comparison.text;
    if (pairs.size() > 1) {
      part = pair.with->name + ": " + part;
      if (!comparison.helped) part += ", so teleportation did not help there";
    }
    parts.push_back(part);
  }
  if (pairs.size() == 1 && measure.tell_time) {
    parts[0] += " (" + effort(*pairs[0].with, *pairs[0].without) + ")";
  }
  Finding finding;
  finding.text = fmt::format("With teleports the {} should be {}: it is {}.", measure.name,
                             direction, join(parts, "; "));
  if (helped == 0) finding.text += " Teleportation did not help here.";
  if (helped > 0 && at_equal_cost == 0) {
    finding.text += " At equal cost teleportation did not help.";
  }
  finding.text += rule;
  const std::size_t all = pairs.size();
  finding.verdict = helped == all && at_equal_cost == all ? Verdict::as_expected
                    : helped > 0                          ? Verdict::partly
                                                          : Verdict::not_confirmed;
  return finding;
}

Finding gradient_finding(const ProblemRuns& problem) {
  std::vector<double> factors;
  for (const Certificate* certificate : accepted(problem)) {
    factors.push_back(certificate->grad_sq_after / certificate->grad_sq_before);
  }
  if (factors.empty()) {
    return without_comparison(problem, {.column = "grad_sq", .name = "squared gradient"});
  }
  const auto grew = std::count_if(factors.begin(), factors.end(), [](double f) { return f > 1.0; });
  const auto count = static_cast<std::ptrdiff_t>(factors.size());
  Finding finding;
  finding.text = fmt::format(
      "A teleport should land where the gradient is larger: the squared gradient grew at {} of {} "
      "teleports, by a factor of {} in the median.",
      grew, count, short_text(median(factors)));
  finding.verdict = grew == count ? Verdict::as_expected
                    : grew > 0    ? Verdict::partly
                                  : Verdict::not_confirmed;
  return finding;
}

Finding same_loss_finding(const ProblemRuns& problem) {
  constexpr int levels = 50;
  std::size_t larger = 0, count = 0;
  std::vector<std::string> parts;
  const std::vector<Pair> pairs = comparable(problem);
  for (const Pair& pair : pairs) {
    const RunRecord &with = *pair.with->example, &without = *pair.without->example;
    const LossRange a = losses_from(with, first_teleport(with)), b = losses_from(without, 0);
    const double low = std::max(a.low, b.low), high = std::min(a.high, b.high);
    if (!(high > low) || !(low > 0.0)) continue;
    std::vector<double> factors;
    for (int i = 0; i < levels; ++i) {
      const double loss = high * std::pow(low / high, (i + 0.5) / levels);
      const double factor =
          gradient_at(with, first_teleport(with), loss) / gradient_at(without, 0, loss);
      if (std::isfinite(factor)) factors.push_back(factor);
    }
    if (factors.empty()) continue;
    ++count;
    const double middle = median(factors);
    larger += middle > 1.0 ? 1 : 0;
    parts.push_back(fmt::format(
        "{}{} times as large in the median of the losses between {} and {} (one run, seed {})",
        pairs.size() > 1 ? pair.with->name + ": " : std::string(), short_text(middle),
        short_text(low), short_text(high), with.seed()));
  }
  const std::string should =
      "At the same loss the gradient should be larger after a teleport than without";
  if (count == 0) {
    return {should + "; no two runs here reach the same losses, so there is nothing to compare.",
            Verdict::inconclusive};
  }
  return {fmt::format("{}; its square is {}.", should, join(parts, "; ")),
          larger == count ? Verdict::as_expected
          : larger > 0    ? Verdict::partly
                          : Verdict::not_confirmed};
}

Finding level_finding(const ProblemRuns& problem, double tolerance, double distance) {
  const std::vector<const Certificate*> jumps = accepted(problem);
  if (jumps.empty() && !std::isfinite(distance)) {
    return {"The minimum of this function is not known: the way shows where it leads.",
            Verdict::not_confirmed};
  }
  if (jumps.empty()) {
    return {
        fmt::format("The way should lead to the minimum, the cross: it ends at distance {}.",
                    short_text(distance)),
        std::isfinite(distance) && distance < 1e-2 ? Verdict::as_expected : Verdict::not_confirmed};
  }
  TeleportTally tally;
  for (const Certificate* jump : jumps) tally.add(*jump);
  const double drift = tally.largest_drift;
  return {fmt::format("Jumps should stay on their level line, faint orange: over {} jump{} the "
                      "largest drift of the loss is {}.",
                      jumps.size(), jumps.size() == 1 ? "" : "s", short_text(drift)),
          drift <= tolerance ? Verdict::as_expected : Verdict::not_confirmed};
}

}  // namespace symport::lab::report
