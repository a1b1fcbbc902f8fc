// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/benchmark/output.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// The verdict, a table of all methods, and one of their costs on each problem.
std::string benchmark_text(const lab::benchmark::Benchmark& benchmark,
                           const lab::benchmark::Findings& findings, const Style& style);

/// Suites with their problems and methods.
std::string suites_text(const Style& style);

}  // namespace symport::cli
