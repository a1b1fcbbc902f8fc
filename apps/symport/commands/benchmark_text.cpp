// SPDX-License-Identifier: MIT
#include "commands/benchmark_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/compare/compare_options.hpp"
#include "lab/compare/summary.hpp"
#include "lab/text/parse_numbers.hpp"
#include "lab/text/suggestion.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab::benchmark;

namespace {

std::string percent(std::size_t part, std::size_t of) {
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

std::string standings_text(const Findings& findings, const Style& style) {
  using enum TextTable::Align;
  TextTable table({{"method", left},
                   {"efficiency"},
                   {"in seconds"},
                   {"near the best"},
                   {"in seconds"},
                   {"solved"},
                   {"harm"},
                   {"help"},
                   {"good rates"},
                   {"refused"},
                   {"drift"},
                   {"diverged"}});
  for (const std::size_t m : ranking(findings.standings, Unit::evaluations)) {
    const Standing& s = findings.standings[m];
    table.add({s.method, fmt::format("{:.3f}", s.evaluations.efficiency),
               fmt::format("{:.3f}", s.seconds.efficiency), fmt::format("{}", s.evaluations.near),
               fmt::format("{}", s.seconds.near), fmt::format("{} of {}", s.solved, s.fits),
               s.harm.pairs == 0 ? "-" : percent(s.harm.harmed, s.harm.pairs),
               s.harm.pairs == 0 ? "-" : percent(s.harm.helped, s.harm.pairs),
               std::isnan(s.good_decades) ? "-" : fmt::format("{:.2g}", s.good_decades),
               s.accepted + s.refused == 0 ? "-" : fmt::format("{}", s.refused),
               s.accepted == 0 ? "-" : fmt::format("{:.1e}", s.drift),
               s.diverged == 0 ? "-" : fmt::format("{}", s.diverged)});
  }
  return table.text(style);
}

std::string problem_text(const Benchmark& benchmark, const Findings& findings, std::size_t p,
                         const Style& style) {
  using enum TextTable::Align;
  const ProblemCells& problem = benchmark.problems[p];
  TextTable table({{"method", left}, {"rate"}, {"evaluations to solve it"}, {"seconds"}});
  for (const std::size_t m : ranking(findings.standings, Unit::evaluations)) {
    const Cell& cell = problem.cells[m];
    const std::string& name = benchmark.options.methods[m].text;
    if (!cell.fits()) {
      table.add({name, "-", "does not fit"});
      continue;
    }
    const auto cost = [&](Unit unit) {
      return lab::compare::spread_text(median_cost(benchmark, findings.costs, p, m, unit));
    };
    table.add({name, cell.rate(), cost(Unit::evaluations), cost(Unit::seconds)});
  }
  return fmt::format("\n{} ({}, {})\n", style.bold(problem.problem.name), problem.problem.summary,
                     benchmark.options.budget_of(problem.problem).text()) +
         table.text(style);
}

}  // namespace

std::string benchmark_text(const Benchmark& benchmark, const Findings& findings,
                           const Style& style) {
  std::string text = conditions_text(benchmark) + "\n";
  for (std::size_t p = 0; p < benchmark.problems.size(); ++p) {
    text += problem_text(benchmark, findings, p, style);
  }
  text += "\n" + style.bold("Altogether") +
          fmt::format(" (near the best: problems within {:g} times the least median, of {})\n",
                      near_the_best, benchmark.problems.size()) +
          standings_text(findings, style) + "\n";
  for (const Verdict* verdict : {&findings.evaluations, &findings.seconds}) {
    text += style.bold(verdict->text) + "\n";
  }
  for (const std::string& remark : remarks(benchmark, findings)) text += "Note: " + remark + ".\n";
  return text + fmt::format("Took {}", lab::duration_text(benchmark.seconds)) +
         (benchmark.kept > 0 ? fmt::format(", with {} finished cells from before", benchmark.kept)
                             : std::string{}) +
         ".\n";
}

std::string suites_text(const Style& style) {
  std::string text;
  for (const Suite& suite : suites()) {
    text += fmt::format(
        "{}: {}\n  problems ({}): {}\n  methods ({}): {}\n  rates {}, {} seed{}, {} to choose "
        "rates\n\n",
        style.bold(suite.name), suite.summary, suite.problems.size(),
        lab::join(suite.problems, "; "), suite.methods.size(), lab::join(suite.methods, "; "),
        lab::compare::grid_text(suite.grid), suite.seeds, suite.seeds == 1 ? "" : "s",
        suite.tuning_seeds);
  }
  text += style.bold("problems") + "\n";
  for (const BenchmarkProblem& problem : benchmark_problems()) {
    text += fmt::format("  {:<30} {} ({})\n", problem.name, problem.summary, problem.budget.text());
  }
  return text;
}

}  // namespace symport::cli
