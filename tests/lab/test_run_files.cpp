// SPDX-License-Identifier: MIT
// A run in memory and the same run read from its directory are one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/report/page.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/runs/run_writer.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

/// NaN is NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

template <class Result>
void expect_same_as_written(const Result& result) {
  const test::TemporaryDirectory directory;
  {
    RunDirectory place(directory / "run", false, "--out");
    write_run(result, place);
  }
  const RunRecord read = read_run(directory / "run");
  RunRecord made = record_of(result);
  EXPECT_EQ(made.config_text, read.config_text);
  EXPECT_EQ(command_of(made.spec), command_of(read.spec));
  EXPECT_EQ(made.seed(), read.seed());
  EXPECT_EQ(made.status, read.status);
  EXPECT_EQ(made.version, read.version);
  EXPECT_EQ(made.machine, read.machine);
  EXPECT_EQ(made.loss_invariant, read.loss_invariant);
  EXPECT_EQ(made.trace.index, read.trace.index);
  ASSERT_EQ(made.trace.columns.size(), read.trace.columns.size());
  for (const auto& [name, column] : made.trace.columns) {
    EXPECT_TRUE(same(column, read.trace[name])) << name;
  }
  ASSERT_EQ(made.teleports.size(), read.teleports.size());
  for (std::size_t i = 0; i < made.teleports.size(); ++i) {
    EXPECT_EQ(made.teleports[i].drift, read.teleports[i].drift);
    EXPECT_EQ(made.teleports[i].reason, read.teleports[i].reason);
  }
  made.directory = read.directory;
  EXPECT_EQ(report::page(report::run_report({made}, "")),
            report::page(report::run_report({read}, "")));
}

TEST(RunFiles, AFunctionRunIsReadBackAsItWas) {
  const auto run = [](const FunctionRunSpec& spec) {
    return run_function(resolve(spec), true, {});
  };
  expect_same_as_written(run({.function = "booth", .teleport = at({4})}));
  expect_same_as_written(run({.function = "quadratic:20,100", .steps = 30}));
  // A run that diverges has infinite and undefined numbers.
  expect_same_as_written(
      run({.function = "booth", .learning_rate = RateSpec{10.0}, .steps = 5000}));
}

TEST(RunFiles, ATrainingRunIsReadBackAsItWas) {
  DataCache data;
  const auto run = [&](const NetworkRunSpec& spec) { return load(spec, data)->train({}, {}); };
  expect_same_as_written(run({.data = "regression", .steps = 20, .teleport = at({5})}));
  expect_same_as_written(
      run({.data = "regression", .samples = 40, .validation = 8, .batch = 4, .epochs = 3}));
}

TEST(RunFiles, TheStartLossIsThatOfTheFirstRow) {
  DataCache data;
  const NetworkRunSpec spec{.data = "regression", .steps = 1, .seed = 3};
  const double loss = load(spec, data)->start_loss();
  EXPECT_EQ(load(spec, data)->train({}, {}).rows.at(0).train_loss, loss);
}

}  // namespace
}  // namespace symport::lab
