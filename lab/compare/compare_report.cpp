// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "lab/compare/infinity.hpp"
#include "lab/compare/output.hpp"
#include "lab/compare/summary.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/version.hpp"
#include "symport/statistics/quantile.hpp"

namespace symport::lab::compare {

namespace {

using report::Cell;
using report::CurveFigure;
using report::number_cell;
using report::Series;
using report::Table;
using report::Verdict;

constexpr int curve_points = 240;
/// Just before a jump, so that the points of a step curve ascend.
constexpr double before = 1.0 - 1e-9;

/// Grey for the first method, which is plain; the others take turns.
int colour_of(std::size_t method) {
  const auto turn = static_cast<int>(method) - 1;
  return method == 0 ? 0 : turn % (report::palette_size - 1) + 1;
}

/// A curve that is so far below the target ends, the rest is rounding; and so does one that is so
/// far above its start, the rest is divergence.
constexpr double far_below = 1e-3, far_above = 100.0;

double median_threshold(const Entry& entry) {
  std::vector<double> values;
  for (const Trial& trial : entry.trials) values.push_back(trial.threshold);
  return median(std::move(values));
}

/// Where the runs of a method are at some step.
struct Crossing {
  std::vector<double> losses{}, evaluations{}, seconds{};
};

Crossing at_step(const Entry& entry, double step) {
  Crossing crossing;
  for (const Trial& trial : entry.trials) {
    const auto after = std::upper_bound(trial.points.begin(), trial.points.end(), step,
                                        [](double s, const Cost& at) { return s < at.steps; });
    const auto index = static_cast<std::size_t>(after - trial.points.begin());
    if (index == 0) continue;
    const bool ended = index == trial.points.size() && step > trial.points.back().steps;
    const bool lost = ended && trial.status == RunStatus::diverged;
    crossing.losses.push_back(lost ? infinity : trial.losses[index - 1]);
    if (ended) continue;  // it stays where it is, and spends nothing any more
    crossing.evaluations.push_back(trial.points[index - 1].evaluations);
    crossing.seconds.push_back(trial.points[index - 1].seconds);
  }
  return crossing;
}

/// The steps at which a method's curve is drawn: densely at first, up to where a budget ends.
std::vector<double> drawn_steps(const Entry& entry) {
  double last = infinity, longest = 0.0;
  for (const Trial& trial : entry.trials) {
    if (trial.points.empty()) continue;
    longest = std::max(longest, trial.points.back().steps);
    if (trial.status == RunStatus::step_limit) last = std::min(last, trial.points.back().steps);
  }
  if (std::isinf(last)) last = longest;  // all diverged or converged
  std::set<double> steps{0.0, last};
  for (int i = 0; i <= curve_points; ++i) {
    const double part = static_cast<double>(i) / curve_points;
    steps.insert(std::round(part * last));
    steps.insert(std::round(std::pow(last + 1.0, part) - 1.0));
  }
  // Rows of mini-batches are epochs apart; what lies between them is no row.
  std::set<double> rows;
  for (const Trial& trial : entry.trials) {
    for (const Cost& at : trial.points) rows.insert(at.steps);
  }
  std::vector<double> list;
  for (const double step : steps) {
    const auto row = rows.upper_bound(step);
    if (row == rows.begin()) continue;
    const double there = *std::prev(row);
    if (list.empty() || list.back() < there) list.push_back(there);
  }
  return list;
}

Series curve_of(const Entry& entry, const Method& method, std::size_t index,
                const std::vector<report::Axis>& axes) {
  Series series{.name = method.text, .colour = colour_of(index)};
  series.x.resize(axes.size());
  const double end = far_below * median_threshold(entry);
  bool over = false;
  for (const double step : drawn_steps(entry)) {
    const Crossing now = at_step(entry, step);
    if (now.losses.size() < entry.trials.size() || now.seconds.empty()) continue;
    const double median_loss = median(now.losses);
    if (std::isinf(median_loss) || over) break;
    if (!series.y.empty() && median_loss > far_above * series.y.front()) break;
    over = median_loss < end;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::string& key = axes[i].key;
      const double x =
          key == "step" ? step : median(key == "seconds" ? now.seconds : now.evaluations);
      // Medians over different runs may step back by a little.
      series.x[i].push_back(series.x[i].empty() ? x : std::max(x, series.x[i].back()));
    }
    series.y.push_back(median_loss);
    if (entry.trials.size() > 1) {
      series.lower.push_back(std::min(median_loss, std::max(end, quantile(now.losses, 0.25))));
      series.upper.push_back(quantile(now.losses, 0.75));
    }
  }
  return series;
}

std::string outcome_words(Effect outcome) {
  return outcome == Effect::cannot_tell ? "may or may not have helped"
                                        : std::string(to_string(outcome));
}

/// What a figure should show is that teleports reach the target sooner.
report::Finding finding_of(const std::vector<Judgement>& list, const std::string& problem) {
  std::vector<std::string> parts;
  std::size_t helped = 0, not_helped = 0;
  for (const Judgement& j : list) {
    if (j.problem != problem) continue;
    if (!j.best) {  // follows what was said about the best plain method
      parts.back() += fmt::format(", against {} alone it {} ({})", j.baseline,
                                  outcome_words(j.effect), interval_text(j.speed_up));
      continue;
    }
    helped += j.effect == Effect::helped ? 1 : 0;
    not_helped += j.effect == Effect::did_not_help ? 1 : 0;
    parts.push_back(fmt::format("{} {} (speed-up {})", j.method, outcome_words(j.effect),
                                interval_text(j.speed_up)));
  }
  const std::string expected =
      "With teleports the target should be reached sooner than by the best "
      "plain method. ";
  if (parts.empty()) return {"No method teleports; nothing is claimed.", Verdict::inconclusive};
  Verdict verdict = Verdict::partly;
  if (helped == parts.size()) verdict = Verdict::as_expected;
  if (helped == 0) verdict = not_helped > 0 ? Verdict::not_confirmed : Verdict::inconclusive;
  return {expected + join(parts, "; ") +
              (helped == 0 && not_helped == parts.size()
                   ? ". Beside the best plain method teleportation did not help here."
                   : "."),
          verdict};
}

CurveFigure loss_figure(const Comparison& comparison, const ProblemResult& problem,
                        const std::vector<Judgement>& list, const std::string& id) {
  CurveFigure figure;
  figure.id = id;
  figure.title = "Loss";
  figure.x_axes = {{"evaluations", "work in gradient evaluations", true},
                   {"seconds", "time in seconds", true},
                   {"step", "step"}};
  if (comparison.options.budget.unit == Budget::Unit::seconds) {
    std::swap(figure.x_axes[0], figure.x_axes[1]);
  }
  figure.y_axis = {"loss", problem.problem.is_function() ? "loss" : "training loss", true};
  std::string spent;
  bool zero = false;
  for (std::size_t m = 0; m < problem.entries.size(); ++m) {
    const Entry& entry = problem.entries[m];
    if (!entry.fits()) continue;
    Series series = curve_of(entry, comparison.options.methods[m], m, figure.x_axes);
    zero = zero || std::any_of(series.y.begin(), series.y.end(), [](double y) { return y <= 0.0; });
    if (series.y.empty()) {
      spent += fmt::format(" {} has spent its budget before its first step.", series.name);
    } else {
      figure.series.push_back(std::move(series));
    }
  }
  figure.finding = finding_of(list, problem.problem.name);
  figure.note = fmt::format(
      "Line: median of {} runs at the same step; shade: from the lower to the upper quartile. The "
      "target is {}. A curve ends a thousand times below the target, a hundred times above its "
      "start, "
      "where half of its runs have diverged, or where the first has used up its budget of {}.",
      comparison.seeds.size(), problem.target.text(), comparison.options.budget.text());
  figure.note += spent;
  if (zero) figure.note += " A loss of zero has no place on the axis.";
  return figure;
}

CurveFigure profile_figure(const Comparison& comparison, const std::vector<Judgement>& list) {
  const PerformanceProfile profile = profile_of(comparison);
  const std::vector<Method>& methods = comparison.options.methods;
  CurveFigure figure;
  figure.id = "profile";
  figure.title = "Performance profile";
  figure.x_axes = {{"factor", "factor of the best method's cost", true}};
  figure.y_axis = {"share", "share of problems and seeds solved", false};
  double largest = 2.0;
  std::set<double> jumps;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    for (const double ratio : profile.ratios(static_cast<Index>(m))) {
      jumps.insert(ratio);
      largest = std::max(largest, ratio);
    }
  }
  std::set<double> factors{1.0, 1.25 * largest};
  for (int i = 1; i < 48; ++i) factors.insert(std::pow(1.25 * largest, i / 48.0));
  for (const double jump : jumps) {
    if (jump * before > 1.0) factors.insert(jump * before);
    factors.insert(jump);
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    Series series{.name = methods[m].text, .colour = colour_of(m)};
    series.x.emplace_back(factors.begin(), factors.end());
    for (const double factor : factors) {
      series.y.push_back(profile.at(static_cast<Index>(m), factor));
    }
    figure.series.push_back(std::move(series));
  }
  const bool several = comparison.problems.size() > 1;
  figure.finding = finding_of(list, several ? "" : comparison.problems.front().problem.name);
  figure.note = fmt::format(
      "The share of the {} pairs of problem and seed that a method solves (reaches the target) at "
      "no "
      "more than so many times the {} of the best method there (Dolan and Moré, 2002). Higher is "
      "better; on the left: how often it is the best; on the right: how often it gets there at "
      "all.",
      profile.problems(), comparison.options.budget.unit_name());
  return figure;
}

std::string rate_remark(const Entry& entry) {
  if (entry.tuned) return entry.at_edge ? " (end of the grid)" : "";
  return entry.rate == "auto" ? "" : " (given)";
}

Cell spread_cell(const MedianInterval& value) {
  const double median = value.median.high;
  return {spread_text(value), median};
}

Table method_table(const Comparison& comparison, const ProblemResult& problem,
                   const std::string& id) {
  Table table{
      id,
      "Methods",
      fmt::format("Steps, evaluations and seconds are those to the target {}: median [{:.3g} % "
                  "interval], runs that do not reach it count as more than the budget of {}.",
                  problem.target.text(), 100.0 * comparison.options.confidence,
                  comparison.options.budget.text()),
      {{"method"},
       {"learning rate"},
       {"reached", true},
       {"steps", true},
       {"evaluations", true},
       {"seconds", true},
       {"median last loss", true},
       {"teleports", true},
       {"refused", true},
       {"largest drift", true},
       {"diverged", true},
       {"why refused"}},
      {}};
  for (std::size_t m = 0; m < problem.entries.size(); ++m) {
    const Entry& entry = problem.entries[m];
    const std::string& name = comparison.options.methods[m].text;
    if (!entry.fits()) continue;
    const Summary s = summary_of(comparison, entry);
    const auto count = [](auto number) { return number_cell(static_cast<double>(number)); };
    table.rows.push_back(
        {{name},
         {entry.rate + rate_remark(entry)},
         {fmt::format("{} of {}", s.reached, entry.trials.size()), static_cast<double>(s.reached)},
         spread_cell(s.steps),
         spread_cell(s.evaluations),
         spread_cell(s.seconds),
         {last_loss_text(s), s.last_loss.median.high},
         count(s.teleports),
         count(s.refused),
         s.accepted == 0 ? Cell{"", std::nullopt} : number_cell(s.drift),
         count(s.diverged),
         {s.refusal}});
  }
  return table;
}

Table verdict_table(const std::vector<Judgement>& list) {
  Table table{
      "verdicts",
      "Verdicts",
      fmt::format("Speed-up: cost of the plain method divided by that of the method, median of "
                  "the pairs with its interval. Helped: the interval is above 1. Did not help: "
                  "it ends below {}.",
                  worthwhile),
      {{"method"}, {"problem"}, {"against"}, {"pairs", true}, {"speed-up", true}, {"outcome"}},
      {}};
  for (const Judgement& j : list) {
    table.rows.push_back({{j.method},
                          {j.problem.empty() ? "all" : j.problem},
                          {j.baseline.empty() ? "each problem's best" : j.baseline},
                          number_cell(static_cast<double>(j.pairs)),
                          {interval_text(j.speed_up), j.speed_up.median.low},
                          {std::string(to_string(j.effect))}});
  }
  return table;
}

/// Lines of at most so many letters, those after the first indented.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line = "   ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line + "\n";
}

}  // namespace

report::Report compare_report(const Comparison& comparison) {
  const std::vector<Judgement> list = judgements(comparison);
  std::vector<std::string> names;
  for (const ProblemResult& problem : comparison.problems) names.push_back(problem.problem.name);
  report::Report page;
  page.title = "Comparison: " + join(names, " · ");
  page.text = fmt::format("{} methods with {} paired seeds and a budget of {} a run. {}",
                          comparison.options.methods.size(), comparison.seeds.size(),
                          comparison.options.budget.text(), tuning_text(comparison));
  for (const std::string& remark : remarks(comparison)) page.text += " Note: " + remark + ".";

  report::Section overall;
  overall.title = "Altogether";
  overall.figures.emplace_back(profile_figure(comparison, list));
  if (!list.empty()) overall.tables.push_back(verdict_table(list));
  std::string words;
  for (const Judgement& j : list) words += wrapped(j.text, 96);
  if (!words.empty()) overall.listings.push_back({"The verdicts in words", words});
  overall.listings.push_back({"Configuration", compare_config(comparison.options)});
  page.sections.push_back(std::move(overall));
  for (std::size_t i = 0; i < comparison.problems.size(); ++i) {
    const ProblemResult& problem = comparison.problems[i];
    const std::string prefix = comparison.problems.size() == 1 ? "" : fmt::format("{}-", i + 1);
    report::Section section;
    section.title = problem.problem.name;
    section.figures.emplace_back(loss_figure(comparison, problem, list, prefix + "loss"));
    section.tables.push_back(method_table(comparison, problem, prefix + "methods"));
    page.sections.push_back(std::move(section));
  }
  page.footer = fmt::format("Written by symport {} on {}.", version(), machine_text());
  return page;
}

}  // namespace symport::lab::compare
