// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/benchmark/verdict.hpp"
#include "lab/report/report.hpp"

/// A benchmark for programs, and as a page.
namespace symport::lab::benchmark {

/// All that is computed from the runs, once.
struct Findings {
  Costs costs;
  std::vector<Standing> standings;
  Verdict evaluations, seconds;

  explicit Findings(const Benchmark& benchmark);
};

/// Tolerances of which the page and the JSON give profiles as well, the asked one aside.
inline constexpr double other_tolerances[] = {1e-1, 1e-5};

/// One line for every run: problem, method, seed, rate, what solving took, how it ended.
std::string results_csv(const Benchmark& benchmark);
std::string benchmark_json(const Benchmark& benchmark, const Findings& findings);
/// Verdict, profiles, standings, a table for each problem, sensitivity, refusals.
report::Report benchmark_report(const Benchmark& benchmark, const Findings& findings);

/// Remarks that a reader must have.
std::vector<std::string> remarks(const Benchmark& benchmark, const Findings& findings);
/// "3 seeds, budget ...; rates tuned on 5 from 0.001 to 10 with 1 other seed"
std::string conditions_text(const Benchmark& benchmark);

}  // namespace symport::lab::benchmark
