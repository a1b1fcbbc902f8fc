// SPDX-License-Identifier: MIT
#include "lab/benchmark/standings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "lab/compare/judgement.hpp"
#include "symport/statistics/quantile.hpp"

namespace symport::lab::benchmark {

namespace {

/// What counts as harm and help, in ratios of the losses at the end.
constexpr double twice = 2.0, ten_times = 10.0, near_the_end = 1e-4;

std::size_t seeds_of(const Benchmark& benchmark) {
  return benchmark.options.judging_seeds().size();
}

Index row_of(const Benchmark& benchmark, std::size_t problem, std::size_t seed) {
  return static_cast<Index>(problem * seeds_of(benchmark) + seed);
}

std::vector<double> of_one_problem(const Benchmark& benchmark, const Matrix& costs,
                                   std::size_t problem, std::size_t method) {
  std::vector<double> values;
  for (std::size_t i = 0; i < seeds_of(benchmark); ++i) {
    values.push_back(costs(row_of(benchmark, problem, i), static_cast<Index>(method)));
  }
  return values;
}

double middle(const Benchmark& benchmark, const Matrix& costs, std::size_t problem,
              std::size_t method) {
  return median(of_one_problem(benchmark, costs, problem, method));
}

void score(const Benchmark& benchmark, const Costs& costs, Unit unit,
           std::vector<Standing>& standings) {
  const Matrix& all = costs.in(unit);
  const auto score_of = [&](std::size_t m) -> Score& {
    return unit == Unit::seconds ? standings[m].seconds : standings[m].evaluations;
  };
  for (std::size_t m = 0; m < standings.size(); ++m) {
    for (Index row = 0; row < all.rows(); ++row) {
      const double cost = all(row, static_cast<Index>(m));
      if (std::isfinite(cost)) score_of(m).efficiency += all.row(row).minCoeff() / cost;
    }
    score_of(m).efficiency /= static_cast<double>(std::max<Index>(all.rows(), 1));
  }
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    double least = infinity;
    for (std::size_t m = 0; m < standings.size(); ++m) {
      least = std::min(least, middle(benchmark, all, p, m));
    }
    if (std::isinf(least)) continue;
    for (std::size_t m = 0; m < standings.size(); ++m) {
      const double cost = middle(benchmark, all, p, m);
      score_of(m).best += cost <= least ? 1 : 0;
      score_of(m).near += cost <= near_the_best * least ? 1 : 0;
    }
  }
  for (std::size_t m = 0; m < standings.size(); ++m) {
    score_of(m).rank = 1 + static_cast<std::size_t>(std::count_if(
                               standings.begin(), standings.end(), [&](const Standing& other) {
                                 return other.in(unit).efficiency > score_of(m).efficiency;
                               }));
  }
}

/// How far a run ended above the minimum; what is below `finished` is not told apart.
double gap(const RecordedRun& run) {
  if (run.status == RunStatus::diverged || !std::isfinite(run.last_loss)) return infinity;
  const double way = run.start - run.minimum;
  return std::max((run.last_loss - run.minimum) / way, finished);
}

void add_pair(const RecordedRun& plain, const RecordedRun& other, bool round_trips, Harm& harm) {
  const double before = gap(plain), after = gap(other);
  if (!(before <= 1.0) || (other.accepted == 0 && !round_trips)) return;
  const bool lost = !(after <= 1.0);
  ++harm.pairs;
  harm.harmed += lost || after >= twice * before ? 1 : 0;
  harm.serious += lost || (after >= ten_times * before && after > near_the_end) ? 1 : 0;
  harm.helped += after * twice <= before ? 1 : 0;
}

/// Of a cell, on the seeds that choose rates: what each rate costs, the geometric mean over the
/// seeds; infinity where one of them is not solved.
std::vector<double> costs_by_rate(const Cell& cell, const std::vector<double>& targets, Unit unit) {
  std::vector<double> costs;
  for (const RateRuns& one : cell.tuning) {
    double sum = 0.0;
    for (std::size_t i = 0; i < one.runs.size(); ++i) {
      const auto at = one.runs[i].reached(targets[i]);
      sum += at ? std::log(at->in(unit)) : infinity;
    }
    costs.push_back(std::exp(sum / static_cast<double>(one.runs.size())));
  }
  return costs;
}

std::vector<double> choosing_targets(const Benchmark& benchmark, const ProblemCells& problem) {
  std::vector<const std::vector<RecordedRun>*> all;
  for (const Cell& cell : problem.cells) {
    for (const RateRuns& one : cell.tuning) all.push_back(&one.runs);
  }
  return targets_of(problem.problem, all, benchmark.options.tolerance);
}

/// Of every problem on which a method is tuned and solves it at some rate.
std::vector<std::pair<const Cell*, std::vector<double>>> tuned_costs(const Benchmark& benchmark,
                                                                     std::size_t method) {
  std::vector<std::pair<const Cell*, std::vector<double>>> list;
  for (const ProblemCells& problem : benchmark.problems) {
    const Cell& cell = problem.cells[method];
    if (!cell.fits() || !cell.tuned()) continue;
    const Unit unit = benchmark.options.budget_of(problem.problem).unit;
    std::vector<double> costs = costs_by_rate(cell, choosing_targets(benchmark, problem), unit);
    if (std::isfinite(*std::min_element(costs.begin(), costs.end()))) {
      list.emplace_back(&cell, std::move(costs));
    }
  }
  return list;
}

double good_decades(const Benchmark& benchmark, std::size_t method) {
  std::vector<double> widths;
  for (const auto& [cell, costs] : tuned_costs(benchmark, method)) {
    const double least = *std::min_element(costs.begin(), costs.end());
    const auto good = std::count_if(costs.begin(), costs.end(),
                                    [&](double cost) { return cost <= twice * least; });
    widths.push_back(static_cast<double>(good) /
                     static_cast<double>(benchmark.options.grid->per_decade));
  }
  return widths.empty() ? std::numeric_limits<double>::quiet_NaN() : median(std::move(widths));
}

/// The bounds of a method's median cost on a problem.
Bounds median_bounds(const Benchmark& benchmark, const Costs& costs, std::size_t problem,
                     std::size_t method, Unit unit) {
  const std::vector<double> values = of_one_problem(benchmark, costs.in(unit), problem, method);
  const std::vector<RecordedRun>& runs = benchmark.problems[problem].cells[method].runs;
  const compare::Budget& budget = benchmark.options.budget_of(benchmark.problems[problem].problem);
  double most = 0.0;  // that any run spent: a diverged one, or none, would need more
  for (const Cell& cell : benchmark.problems[problem].cells) {
    for (const RecordedRun& run : cell.runs) most = std::max(most, run.spent.in(unit));
  }
  std::vector<double> low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      low.push_back(values[i]);
    } else if (unit == budget.unit) {
      low.push_back(budget.amount);
    } else {
      const bool lost = runs.empty() || runs[i].status == RunStatus::diverged;
      low.push_back(lost ? most : runs[i].spent.in(unit));
    }
  }
  return {median(low), median(values)};
}

}  // namespace

Costs costs_of(const Benchmark& benchmark, double tolerance) {
  const auto rows = static_cast<Index>(benchmark.problems.size() * seeds_of(benchmark));
  const auto columns = static_cast<Index>(benchmark.options.methods.size());
  Costs costs{Matrix::Constant(rows, columns, infinity), Matrix::Constant(rows, columns, infinity)};
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    const ProblemCells& problem = benchmark.problems[p];
    std::vector<const std::vector<RecordedRun>*> all;
    for (const Cell& cell : problem.cells) {
      if (cell.fits()) all.push_back(&cell.runs);
    }
    const std::vector<double> targets = targets_of(problem.problem, all, tolerance);
    for (std::size_t m = 0; m < problem.cells.size(); ++m) {
      const std::vector<RecordedRun>& runs = problem.cells[m].runs;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto at = runs[i].reached(targets[i]);
        if (!at) continue;
        const Index row = row_of(benchmark, p, i), column = static_cast<Index>(m);
        costs.evaluations(row, column) = at->evaluations;
        costs.seconds(row, column) = at->seconds;
      }
    }
  }
  return costs;
}

MedianInterval median_cost(const Benchmark& benchmark, const Costs& costs, std::size_t problem,
                           std::size_t method, Unit unit) {
  return compare::median_of(of_one_problem(benchmark, costs.in(unit), problem, method),
                            benchmark.options.confidence);
}

std::vector<Standing> standings_of(const Benchmark& benchmark, const Costs& costs) {
  const std::vector<compare::Method>& methods = benchmark.options.methods;
  std::vector<Standing> list;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    Standing& standing = list.emplace_back();
    standing.method = methods[m].text;
    standing.teleports = methods[m].teleports();
    const auto plain = static_cast<std::size_t>(
        std::find_if(methods.begin(), methods.end(),
                     [&](const compare::Method& one) { return one.text == methods[m].optimizer; }) -
        methods.begin());
    for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
      const ProblemCells& problem = benchmark.problems[p];
      const Cell& cell = problem.cells[m];
      if (!cell.fits()) continue;
      ++standing.fits;
      standing.solved += std::isfinite(middle(benchmark, costs.evaluations, p, m)) ? 1 : 0;
      for (std::size_t i = 0; i < cell.runs.size(); ++i) {
        const RecordedRun& run = cell.runs[i];
        ++standing.runs;
        standing.solved_runs +=
            std::isfinite(costs.evaluations(row_of(benchmark, p, i), static_cast<Index>(m)));
        standing.diverged += run.status == RunStatus::diverged ? 1 : 0;
        standing.accepted += run.accepted;
        standing.refused += run.refused;
        standing.drift = std::max(standing.drift, run.drift);
        standing.loss_invariant = standing.loss_invariant && run.loss_invariant;
        if (standing.teleports && plain < methods.size() && problem.cells[plain].fits()) {
          add_pair(problem.cells[plain].runs[i], run, methods[m].round_trips(), standing.harm);
        }
      }
    }
    standing.good_decades = good_decades(benchmark, m);
  }
  score(benchmark, costs, Unit::evaluations, list);
  score(benchmark, costs, Unit::seconds, list);
  return list;
}

std::vector<std::size_t> ranking(const std::vector<Standing>& standings, Unit unit) {
  std::vector<std::size_t> order(standings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return standings[a].in(unit).efficiency > standings[b].in(unit).efficiency;
  });
  return order;
}

Sensitivity sensitivity_of(const Benchmark& benchmark, std::size_t method) {
  // By how many places of the grid a rate is above the best one.
  std::map<Index, std::vector<double>> by_offset;
  for (const auto& [cell, costs] : tuned_costs(benchmark, method)) {
    const auto least = std::min_element(costs.begin(), costs.end());
    for (std::size_t r = 0; r < costs.size(); ++r) {
      by_offset[static_cast<Index>(r) - (least - costs.begin())].push_back(*least / costs[r]);
    }
  }
  Sensitivity result;
  const auto per_decade = static_cast<double>(benchmark.options.grid->per_decade);
  for (const auto& [offset, values] : by_offset) {
    result.factor.push_back(std::pow(10.0, static_cast<double>(offset) / per_decade));
    result.efficiency.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                                static_cast<double>(values.size()));
  }
  return result;
}

CostPairs cost_pairs(const Benchmark& benchmark, const Costs& costs, std::size_t method,
                     std::size_t other, Unit unit) {
  CostPairs pairs;
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    const std::vector<Cell>& cells = benchmark.problems[p].cells;
    if (!cells[method].fits() && !cells[other].fits()) continue;
    pairs.method.push_back(median_bounds(benchmark, costs, p, method, unit));
    pairs.other.push_back(median_bounds(benchmark, costs, p, other, unit));
  }
  return pairs;
}

MedianInterval speed_up(const Benchmark& benchmark, const Costs& costs, std::size_t method,
                        std::size_t other, Unit unit) {
  const CostPairs pairs = cost_pairs(benchmark, costs, method, other, unit);
  if (pairs.method.empty()) return {{0.0, infinity}, {0.0, infinity}, 0.0};
  return paired_ratio(pairs.other, pairs.method, benchmark.options.confidence);
}

}  // namespace symport::lab::benchmark
