// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/benchmark/output.hpp"
#include "lab/compare/compare_options.hpp"
#include "lab/compare/summary.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/version.hpp"
#include "symport/statistics/quantile.hpp"

namespace symport::lab::benchmark {

namespace {

using report::CurveFigure;
using report::number_cell;
using report::Series;
using report::Table;

/// As many curves as there are colours: the best ones.
constexpr std::size_t drawn = report::palette_size;
/// Just before a jump, so that the points of a step curve ascend.
constexpr double before = 1.0 - 1e-9;
constexpr int points_of_profile = 48;

std::string unit_words(Unit unit) { return compare::Budget{.unit = unit}.unit_name(); }

/// The methods that are drawn, the best first, each with its colour; a method has the same one in
/// all figures. The best one that teleports is always among them: the question is about it.
std::vector<std::size_t> drawn_methods(const Findings& findings) {
  std::vector<std::size_t> order = ranking(findings.standings, Unit::evaluations);
  if (order.size() <= drawn) return order;
  const auto end = order.begin() + drawn;
  const auto teleporting = std::find_if(
      order.begin(), order.end(), [&](std::size_t m) { return findings.standings[m].teleports; });
  if (teleporting != order.end() && teleporting >= end) *(end - 1) = *teleporting;
  order.resize(drawn);
  return order;
}

report::Finding finding_of(const Verdict& verdict) {
  return {verdict.text, verdict.won ? report::Verdict::as_expected : report::Verdict::inconclusive};
}

CurveFigure profile_figure(const Benchmark& benchmark, const Findings& findings, Unit unit) {
  const PerformanceProfile profile(findings.costs.in(unit));
  const Verdict& verdict = unit == Unit::seconds ? findings.seconds : findings.evaluations;
  CurveFigure figure;
  figure.id = unit == Unit::seconds ? "profile-seconds" : "profile-evaluations";
  figure.title = fmt::format("Performance profile in {}", unit_words(unit));
  figure.finding = finding_of(verdict);
  figure.x_axes = {{"factor", "factor of the best method's cost", true}};
  figure.y_axis = {"share", "share solved", false};
  const std::vector<std::size_t> shown = drawn_methods(findings);
  double largest = 2.0;
  std::set<double> factors{1.0};
  for (const std::size_t m : shown) {
    for (const double ratio : profile.ratios(static_cast<Index>(m))) {
      largest = std::max(largest, ratio);
      factors.insert(ratio);
      if (ratio * before > 1.0) factors.insert(ratio * before);
    }
  }
  for (int i = 1; i <= points_of_profile; ++i) {
    factors.insert(std::pow(1.25 * largest, i / static_cast<double>(points_of_profile)));
  }
  int colour = 0;
  for (const std::size_t m : shown) {
    Series series{.name = benchmark.options.methods[m].text,
                  .colour = ++colour % report::palette_size};
    series.x.emplace_back(factors.begin(), factors.end());
    for (const double factor : factors) {
      series.y.push_back(profile.at(static_cast<Index>(m), factor));
    }
    figure.series.push_back(std::move(series));
  }
  figure.note = fmt::format(
      "The share of the {} pairs of problem and seed that a method solves at no more than so many "
      "times the {} of the best method there (Dolan and Moré, 2002). On the left: how often it is "
      "the best; on the right: how often it gets there at all. {} of {} methods are drawn, those "
      "with the highest efficiency and the best that teleports; the table has all.",
      profile.problems(), unit_words(unit), shown.size(), findings.standings.size());
  return figure;
}

CurveFigure sensitivity_figure(const Benchmark& benchmark, const Findings& findings) {
  CurveFigure figure;
  figure.id = "sensitivity";
  figure.title = "Sensitivity to the learning rate";
  figure.x_axes = {{"factor", "learning rate / the method's best one", true}};
  figure.y_axis = {"efficiency", "cost at the best rate / cost at this one", false};
  std::vector<std::pair<double, std::string>> widths;
  int colour = 0;
  for (const std::size_t m : drawn_methods(findings)) {
    ++colour;
    Sensitivity sensitivity = sensitivity_of(benchmark, m);
    if (sensitivity.factor.empty()) continue;
    Series series{.name = benchmark.options.methods[m].text,
                  .colour = colour % report::palette_size};
    series.x.push_back(std::move(sensitivity.factor));
    series.y = std::move(sensitivity.efficiency);
    figure.series.push_back(std::move(series));
    widths.emplace_back(findings.standings[m].good_decades, benchmark.options.methods[m].text);
  }
  if (widths.empty()) {
    figure.finding = {"None of the drawn methods has a learning rate that was tuned.",
                      report::Verdict::inconclusive};
  } else {
    const auto [narrow, wide] = std::minmax_element(widths.begin(), widths.end());
    figure.finding = {
        fmt::format("Of the tuned methods {} has the widest range of good rates ({:.2g} decades "
                    "within twice the best cost) and {} the narrowest ({:.2g}).",
                    wide->second, wide->first, narrow->second, narrow->first),
        report::Verdict::as_expected};
  }
  figure.note =
      "The mean over the problems that the method solves at some rate, on the seeds that choose "
      "rates; a rate that does not solve the problem counts as 0. Flat is robust. At the ends "
      "fewer "
      "problems have such a rate on the grid.";
  return figure;
}

std::string harm_text(const Harm& harm) {
  if (harm.pairs == 0) return "";
  return fmt::format("{:.0f} / {:.0f} / {:.0f} of {}",
                     100.0 * static_cast<double>(harm.harmed) / static_cast<double>(harm.pairs),
                     100.0 * static_cast<double>(harm.serious) / static_cast<double>(harm.pairs),
                     100.0 * static_cast<double>(harm.helped) / static_cast<double>(harm.pairs),
                     harm.pairs);
}

Table standings_table(const Benchmark& benchmark, const Findings& findings) {
  const std::size_t problems = benchmark.problems.size();
  Table table{
      "standings",
      "Methods over all problems",
      fmt::format(
          "Efficiency: the mean of (least cost of any method) / (its cost), 0 where it does not "
          "solve the problem. Near the best: problems on which its median cost is at most {:g} "
          "times the least, of {}. Harm: per cent of the pairs with the plain form of the same "
          "optimizer that ended at least twice as high / seriously harmed / at most half as high. "
          "Good rates: decades of the grid at which it needs at most twice its least cost.",
          near_the_best, problems),
      {{"method"},
       {"efficiency in evaluations", true},
       {"efficiency in seconds", true},
       {"near the best in evaluations", true},
       {"near the best in seconds", true},
       {"problems solved", true},
       {"runs solved", true},
       {"diverged", true},
       {"harm / serious / help"},
       {"good rates", true},
       {"teleports", true},
       {"refused", true},
       {"largest drift", true}},
      {}};
  const auto count = [](auto number) { return number_cell(static_cast<double>(number)); };
  for (const std::size_t m : ranking(findings.standings, Unit::evaluations)) {
    const Standing& s = findings.standings[m];
    table.rows.push_back(
        {{s.method},
         {fmt::format("{:.3f}", s.evaluations.efficiency), s.evaluations.efficiency},
         {fmt::format("{:.3f}", s.seconds.efficiency), s.seconds.efficiency},
         count(s.evaluations.near),
         count(s.seconds.near),
         {fmt::format("{} of {}", s.solved, s.fits), static_cast<double>(s.solved)},
         {fmt::format("{} of {}", s.solved_runs, s.runs), static_cast<double>(s.solved_runs)},
         count(s.diverged),
         {harm_text(s.harm)},
         std::isnan(s.good_decades) ? report::Cell{"not tuned"} : number_cell(s.good_decades),
         count(s.accepted),
         count(s.refused),
         s.accepted == 0 ? report::Cell{""} : number_cell(s.drift)});
  }
  return table;
}

/// Every method's median cost on every problem, as a factor of the least.
Table ratio_table(const Benchmark& benchmark, const Findings& findings) {
  Table table{"factors",
              "Factor of the least median cost, in gradient evaluations",
              "Empty: the method does not fit the problem; a dash: it does not solve it in half of "
              "the runs.",
              {{"problem"}},
              {}};
  const std::vector<std::size_t> order = ranking(findings.standings, Unit::evaluations);
  for (const std::size_t m : order) {
    table.columns.push_back({benchmark.options.methods[m].text, true});
  }
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    std::vector<double> costs;
    for (const std::size_t m : order) {
      costs.push_back(median_cost(benchmark, findings.costs, p, m, Unit::evaluations).median.high);
    }
    const double least = *std::min_element(costs.begin(), costs.end());
    std::vector<report::Cell> row{{benchmark.problems[p].problem.name}};
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool fits = benchmark.problems[p].cells[order[k]].fits();
      row.push_back(!fits                  ? report::Cell{""}
                    : std::isinf(costs[k]) ? report::Cell{"–"}
                                           : number_cell(costs[k] / least));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table problem_table(const Benchmark& benchmark, const Findings& findings, std::size_t p) {
  const ProblemCells& problem = benchmark.problems[p];
  Table table{
      fmt::format("problem-{}", p + 1),
      problem.problem.name,
      fmt::format("{}; budget {}. Cost to solve it: median [{:.3g} % interval].",
                  problem.problem.summary, benchmark.options.budget_of(problem.problem).text(),
                  100.0 * benchmark.options.confidence),
      {{"method"},
       {"learning rate"},
       {"solved", true},
       {"evaluations", true},
       {"seconds", true},
       {"median last loss", true},
       {"diverged", true},
       {"teleports", true},
       {"refused", true},
       {"largest drift", true},
       {"why refused"}},
      {}};
  for (const std::size_t m : ranking(findings.standings, Unit::evaluations)) {
    const Cell& cell = problem.cells[m];
    if (!cell.fits()) continue;
    std::vector<double> losses;
    std::size_t solved = 0, diverged = 0;
    Index accepted = 0, refused = 0;
    double drift = 0.0;
    std::string refusal;
    for (std::size_t i = 0; i < cell.runs.size(); ++i) {
      const RecordedRun& run = cell.runs[i];
      const auto row = static_cast<Index>(p * cell.runs.size() + i);
      losses.push_back(run.last_loss);
      solved += std::isfinite(findings.costs.evaluations(row, static_cast<Index>(m))) ? 1 : 0;
      diverged += run.status == RunStatus::diverged ? 1 : 0;
      accepted += run.accepted;
      refused += run.refused;
      drift = std::max(drift, run.drift);
      if (refusal.empty()) refusal = run.refusal;
    }
    const auto spread = [&](Unit unit) -> report::Cell {
      const MedianInterval value = median_cost(benchmark, findings.costs, p, m, unit);
      return {compare::spread_text(value), value.median.high};
    };
    const auto count = [](auto number) { return number_cell(static_cast<double>(number)); };
    const double last = median(losses);
    const std::string rate_note = cell.at_edge() ? " (end of the grid)" : "";
    table.rows.push_back(
        {{benchmark.options.methods[m].text},
         {cell.rate() + rate_note},
         {fmt::format("{} of {}", solved, cell.runs.size()), static_cast<double>(solved)},
         spread(Unit::evaluations),
         spread(Unit::seconds),
         std::isfinite(last) ? number_cell(last) : report::Cell{"diverged", last},
         count(diverged),
         count(accepted),
         count(refused),
         accepted == 0 ? report::Cell{""} : number_cell(drift),
         {refusal}});
  }
  return table;
}

/// Methods that do not fit, with the problems that give the same reason together.
Table misfit_table(const Benchmark& benchmark) {
  Table table{"misfits",
              "Methods that do not fit a problem",
              "They count as not solving it.",
              {{"method"}, {"problems"}, {"why"}},
              {}};
  for (std::size_t m = 0; m < benchmark.options.methods.size(); ++m) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const ProblemCells& problem : benchmark.problems) {
      const Cell& cell = problem.cells[m];
      if (!cell.fits()) by_reason[cell.misfit].push_back(problem.problem.name);
    }
    for (const auto& [reason, problems] : by_reason) {
      table.rows.push_back({{benchmark.options.methods[m].text}, {join(problems)}, {reason}});
    }
  }
  return table;
}

Table tolerance_table(const Benchmark& benchmark) {
  Table table{"tolerances",
              "Other tolerances",
              "Problems on which a method is near the best, in gradient evaluations, when solving "
              "means less or more.",
              {{"method"}},
              {}};
  std::vector<double> tolerances{benchmark.options.tolerance};
  tolerances.insert(tolerances.end(), std::begin(other_tolerances), std::end(other_tolerances));
  std::sort(tolerances.rbegin(), tolerances.rend());
  tolerances.erase(std::unique(tolerances.begin(), tolerances.end()), tolerances.end());
  std::vector<std::vector<Standing>> all;
  for (const double tolerance : tolerances) {
    table.columns.push_back({fmt::format("{:g}", tolerance), true});
    all.push_back(standings_of(benchmark, costs_of(benchmark, tolerance)));
  }
  for (std::size_t m = 0; m < benchmark.options.methods.size(); ++m) {
    std::vector<report::Cell> row{{benchmark.options.methods[m].text}};
    for (const auto& standings : all) {
      row.push_back(number_cell(static_cast<double>(standings[m].evaluations.near)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<std::string> remarks(const Benchmark& benchmark, const Findings& findings) {
  std::vector<std::string> list;
  std::size_t edges = 0, unsolved = 0;
  for (const ProblemCells& problem : benchmark.problems) {
    edges += static_cast<std::size_t>(
        std::count_if(problem.cells.begin(), problem.cells.end(),
                      [](const Cell& cell) { return cell.fits() && cell.at_edge(); }));
  }
  for (Index row = 0; row < findings.costs.evaluations.rows(); ++row) {
    unsolved += std::isinf(findings.costs.evaluations.row(row).minCoeff()) ? 1 : 0;
  }
  if (edges > 0) {
    list.push_back(fmt::format("{} best rate{} at an end of the grid; a wider --grid may be fairer",
                               edges, edges == 1 ? " is" : "s are"));
  }
  if (unsolved > 0) {
    list.push_back(fmt::format("{} of {} pairs of problem and seed were solved by no method",
                               unsolved, findings.costs.evaluations.rows()));
  }
  for (const Standing& standing : findings.standings) {
    if (!standing.loss_invariant) {
      list.push_back(
          fmt::format("{} is not loss-invariant: its teleports change the loss by "
                      "themselves (drift up to {:.2g})",
                      standing.method, standing.drift));
    }
  }
  if (benchmark.options.jobs > 1) {
    list.push_back(
        fmt::format("{} runs at a time: sharing caches may lengthen their seconds a little",
                    benchmark.options.jobs));
  }
  return list;
}

std::string conditions_text(const Benchmark& benchmark) {
  const BenchmarkOptions& options = benchmark.options;
  const std::size_t seeds = options.choosing_seeds().size();
  return fmt::format(
      "{} methods on {} problems with {} seeds. A problem is solved when the loss is within {:g} "
      "of "
      "the way from the start to the best loss known. The rate of every method that has one was "
      "chosen on the same {} rates from {:g} to {:g} with {} other seed{}.",
      options.methods.size(), benchmark.problems.size(), options.judging_seeds().size(),
      options.tolerance, rates_of(*options.grid).size(), options.grid->lowest,
      options.grid->highest, seeds, seeds == 1 ? "" : "s");
}

report::Report benchmark_report(const Benchmark& benchmark, const Findings& findings) {
  report::Report page;
  page.title = fmt::format("Benchmark: {}", benchmark.options.suite);
  page.text = conditions_text(benchmark);
  if (benchmark.interrupted) {
    page.text += fmt::format(" It was interrupted: {} of {} problems are complete.",
                             benchmark.problems.size(), benchmark.options.problems.size());
  }
  for (const std::string& remark : remarks(benchmark, findings)) {
    page.text += " Note: " + remark + ".";
  }
  report::Section overall;
  overall.title = "Altogether";
  overall.figures.emplace_back(profile_figure(benchmark, findings, Unit::evaluations));
  overall.figures.emplace_back(profile_figure(benchmark, findings, Unit::seconds));
  overall.tables.push_back(standings_table(benchmark, findings));
  overall.tables.push_back(ratio_table(benchmark, findings));
  overall.tables.push_back(tolerance_table(benchmark));
  page.sections.push_back(std::move(overall));

  report::Section rates;
  rates.title = "Learning rates";
  rates.figures.emplace_back(sensitivity_figure(benchmark, findings));
  page.sections.push_back(std::move(rates));

  report::Section problems;
  problems.title = "Problems";
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    problems.tables.push_back(problem_table(benchmark, findings, p));
  }
  Table misfits = misfit_table(benchmark);
  if (!misfits.rows.empty()) problems.tables.push_back(std::move(misfits));
  problems.listings.push_back({"Configuration", benchmark_config(benchmark.options)});
  page.sections.push_back(std::move(problems));
  page.footer = fmt::format("Written by symport {} on {}.", version(), machine_text());
  return page;
}

}  // namespace symport::lab::benchmark
