// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "lab/benchmark/output.hpp"
#include "lab/compare/compare_options.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::benchmark {

namespace {

Json bounds_json(const Bounds& bounds) {
  return Json::array({json_number(bounds.low), json_number(bounds.high)});
}

Json median_json(const MedianInterval& value) {
  return {{"median", json_number(value.median.high)}, {"interval", bounds_json(value.interval)}};
}

Json score_json(const Score& score) {
  return {{"efficiency", score.efficiency},
          {"rank", score.rank},
          {"problems_best", score.best},
          {"problems_near_the_best", score.near}};
}

Json standing_json(const Standing& s) {
  Json json{{"method", s.method},
            {"teleports", s.teleports},
            {"problems", s.fits},
            {"problems_solved", s.solved},
            {"runs", s.runs},
            {"runs_solved", s.solved_runs},
            {"diverged", s.diverged},
            {"in_evaluations", score_json(s.evaluations)},
            {"in_seconds", score_json(s.seconds)},
            {"good_decades_of_rates", json_number(s.good_decades)},
            {"teleports_accepted", s.accepted},
            {"teleports_refused", s.refused},
            {"drift", json_number(s.drift)},
            {"loss_invariant", s.loss_invariant}};
  if (s.teleports) {
    json["against_plain"] = {{"pairs", s.harm.pairs},
                             {"harmed", s.harm.harmed},
                             {"seriously", s.harm.serious},
                             {"helped", s.harm.helped}};
  }
  return json;
}

Json verdict_json(const Verdict& v) {
  return {{"text", v.text},
          {"leaders", v.leaders},
          {"won", v.won},
          {"rivals", v.rivals},
          {"teleportation", compare::to_string(v.teleportation)},
          {"teleport_speed_up",
           {{"median", bounds_json(v.teleport_speed_up.median)},
            {"interval", bounds_json(v.teleport_speed_up.interval)}}}};
}

Json profile_json(const Benchmark& benchmark, double tolerance) {
  const Costs costs = costs_of(benchmark, tolerance);
  Json json{{"tolerance", tolerance}, {"methods", Json::array()}};
  const PerformanceProfile evaluations(costs.evaluations), seconds(costs.seconds);
  for (std::size_t m = 0; m < benchmark.options.methods.size(); ++m) {
    const auto column = static_cast<Index>(m);
    json["methods"].push_back({{"method", benchmark.options.methods[m].text},
                               {"pairs", evaluations.problems()},
                               {"ratios_in_evaluations", evaluations.ratios(column)},
                               {"ratios_in_seconds", seconds.ratios(column)}});
  }
  return json;
}

Json problem_json(const Benchmark& benchmark, const Findings& findings, std::size_t p) {
  const ProblemCells& problem = benchmark.problems[p];
  Json cells = Json::array();
  for (std::size_t m = 0; m < problem.cells.size(); ++m) {
    const Cell& cell = problem.cells[m];
    Json json{{"method", benchmark.options.methods[m].text}, {"fits", cell.fits()}};
    if (!cell.fits()) {
      json["misfit"] = cell.misfit;
    } else {
      json["learning_rate"] = cell.rate();
      json["tuned"] = cell.tuned();
      json["at_edge_of_grid"] = cell.at_edge();
      json["evaluations"] =
          median_json(median_cost(benchmark, findings.costs, p, m, Unit::evaluations));
      json["seconds"] = median_json(median_cost(benchmark, findings.costs, p, m, Unit::seconds));
    }
    cells.push_back(std::move(json));
  }
  return {{"problem", problem.problem.name},
          {"budget", benchmark.options.budget_of(problem.problem).text()},
          {"methods", std::move(cells)}};
}

}  // namespace

Findings::Findings(const Benchmark& benchmark)
    : costs(costs_of(benchmark, benchmark.options.tolerance)),
      standings(standings_of(benchmark, costs)),
      evaluations(verdict_of(benchmark, costs, standings, Unit::evaluations)),
      seconds(verdict_of(benchmark, costs, standings, Unit::seconds)) {}

std::string benchmark_json(const Benchmark& benchmark, const Findings& findings) {
  const BenchmarkOptions& options = benchmark.options;
  Json json{{"status", benchmark.interrupted ? "interrupted" : "done"},
            {"suite", options.suite},
            {"tolerance", options.tolerance},
            {"confidence", options.confidence},
            {"seeds", options.judging_seeds()},
            {"tuning_seeds", options.choosing_seeds()},
            {"grid", compare::grid_text(*options.grid)},
            {"verdict_in_evaluations", verdict_json(findings.evaluations)},
            {"verdict_in_seconds", verdict_json(findings.seconds)},
            {"standings", Json::array()},
            {"problems", Json::array()},
            {"profiles", Json::array()},
            {"notes", remarks(benchmark, findings)},
            {"seconds", benchmark.seconds},
            {"machine", machine_text()},
            {"version", version()}};
  for (const std::size_t m : ranking(findings.standings, Unit::evaluations)) {
    json["standings"].push_back(standing_json(findings.standings[m]));
  }
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    json["problems"].push_back(problem_json(benchmark, findings, p));
  }
  json["profiles"].push_back(profile_json(benchmark, options.tolerance));
  for (const double tolerance : other_tolerances) {
    json["profiles"].push_back(profile_json(benchmark, tolerance));
  }
  return json_text(json);
}

std::string results_csv(const Benchmark& benchmark) {
  std::string text =
      "problem,method,seed,learning_rate,solved,evaluations,seconds,start_loss,last_loss,status,"
      "accepted,refused,drift\n";
  const auto quoted = [](const std::string& cell) {
    return cell.find(',') == std::string::npos ? cell : "\"" + cell + "\"";
  };
  const Costs costs = costs_of(benchmark, benchmark.options.tolerance);
  const std::size_t seeds = benchmark.options.judging_seeds().size();
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    const ProblemCells& problem = benchmark.problems[p];
    for (std::size_t m = 0; m < problem.cells.size(); ++m) {
      const Cell& cell = problem.cells[m];
      for (std::size_t i = 0; i < cell.runs.size(); ++i) {
        const RecordedRun& run = cell.runs[i];
        const auto row = static_cast<Index>(p * seeds + i), column = static_cast<Index>(m);
        const bool solved = std::isfinite(costs.evaluations(row, column));
        fmt::format_to(
            std::back_inserter(text), "{},{},{},{},{},{},{:.9f},{:.17g},{:.17g},{},{},{},{:.17g}\n",
            quoted(problem.problem.name), quoted(benchmark.options.methods[m].text), run.seed,
            cell.rate(), solved ? 1 : 0,
            solved ? costs.evaluations(row, column) : run.spent.evaluations,
            solved ? costs.seconds(row, column) : run.spent.seconds, run.start, run.last_loss,
            symport::to_string(run.status), run.accepted, run.refused, run.drift);
      }
    }
  }
  return text;
}

}  // namespace symport::lab::benchmark
