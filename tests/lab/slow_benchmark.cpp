// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/benchmark/benchmark.hpp"
#include "lab/benchmark/output.hpp"

namespace symport::lab::benchmark {
namespace {

using ::testing::HasSubstr;

/// The quick suite, which has random directions as a control, with a copy of gradient descent.
TEST(QuickSuite, GivesTheExpectedOrder) {
  Arguments given;
  const auto give = [&](const std::string& name, const std::string& text) {
    given.add({name, text, "--" + name});
  };
  const Suite& quick = find_entry(suites(), "quick");
  for (const std::string& method : quick.methods) give("methods", method);
  give("methods", "sgd");
  const BenchmarkOptions options = read_benchmark_options(given);
  DataCache data;
  const Benchmark result = run_benchmark(options, data, {}, {});
  RecordProperty("seconds", std::to_string(result.seconds));
  std::cout << "quick suite: " << result.seconds << " s\n";
  ASSERT_EQ(result.problems.size(), quick.problems.size());
  const Findings findings(result);
  const auto standing = [&](const std::string& method) -> const Standing& {
    return *std::find_if(findings.standings.begin(), findings.standings.end(),
                         [&](const Standing& one) { return one.method == method; });
  };
  const std::size_t methods = findings.standings.size();
  // A copy ties, to the last bit.
  EXPECT_EQ(standing("sgd").evaluations.efficiency, standing("gd").evaluations.efficiency);
  EXPECT_EQ(standing("sgd").solved_runs, standing("gd").solved_runs);
  // What knows nothing is last, by far, and tunes its rate as all others do.
  const Standing& control = standing("random_direction");
  EXPECT_EQ(control.evaluations.rank, methods);
  EXPECT_EQ(control.seconds.rank, methods);
  EXPECT_LT(control.evaluations.efficiency, 0.05);
  EXPECT_LE(control.solved, 3u);
  // Small smooth problems are Newton's.
  EXPECT_LE(standing("newton:lr=1").evaluations.rank, 2u);
  EXPECT_GE(standing("newton:lr=1").evaluations.near, 4u);
  EXPECT_GT(standing("newton:lr=1").evaluations.efficiency, 0.4);
  // Momentum is better than none; random jumps are worse.
  EXPECT_GT(standing("momentum").evaluations.efficiency, standing("gd").evaluations.efficiency);
  EXPECT_GE(standing("gd").solved, 7u);
  EXPECT_EQ(standing("adam").solved, quick.problems.size());
  EXPECT_LT(standing("gd+random:every:10").evaluations.efficiency, 0.3);
  // Teleports keep the loss.
  EXPECT_LT(standing("gd+teleport:every:10").drift, 1e-6);
  EXPECT_GT(standing("gd+teleport:every:10").accepted, 0);
  EXPECT_THAT(findings.evaluations.text, HasSubstr("In gradient evaluations"));
}

}  // namespace
}  // namespace symport::lab::benchmark
