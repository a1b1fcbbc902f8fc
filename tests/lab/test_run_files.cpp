// SPDX-License-Identifier: MIT
// A run in memory and the same run read from its directory are one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/runs/run_writer.hpp"
#include "support/temporary_directory.hpp"
#include "support/traces.hpp"

namespace symport::lab {
namespace {

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), symport::testing::same_number);
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
  ASSERT_EQ(made.jumps.size(), read.jumps.size());
  for (std::size_t i = 0; i < made.jumps.size(); ++i) {
    EXPECT_THAT(made.jumps[i], symport::testing::SameTeleport(read.jumps[i])) << i;
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
  expect_same_as_written(run({.data = "regression",
                              .samples = 40,
                              .batch = 4,
                              .epochs = 3,
                              .train_loss = TrainLoss::running,
                              .teleport = at({1, 2})}));
  // Few enough parameters for points.
  expect_same_as_written(run({.data = "regression",
                              .samples = 12,
                              .layers = {2, 2, 2},
                              .batch = 2,
                              .epochs = 3,
                              .teleport = at({1})}));
}

// The file that others script against.
TEST(RunFiles, EntryKOfEpochsIsTheStateAfterKEpochs) {
  DataCache data;
  const NetworkRunSpec spec{.data = "regression",
                            .samples = 40,
                            .validation = 8,
                            .batch = 4,
                            .epochs = 3,
                            .teleport = at({1}),
                            .teleport_batches = 2,
                            .how = {.how = {.rehearsal = 0}}};
  const auto result = nlohmann::json::parse(json_of(load(spec, data)->train({}, {})));
  EXPECT_EQ(result["trace_version"], 2);
  ASSERT_EQ(result["epochs"].size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto& entry = result["epochs"][k];
    EXPECT_EQ(entry["epoch"], k);
    EXPECT_EQ(entry["step"], 8 * k);
    EXPECT_EQ(entry["teleported"], k == 2);
    for (const char* key :
         {"train_loss", "valid_loss", "valid_accuracy", "grad_sq", "evaluations", "seconds"}) {
      EXPECT_TRUE(entry.contains(key)) << key;
    }
  }
  NetworkRunSpec shorter = spec;
  shorter.epochs = 2;
  const auto part = nlohmann::json::parse(json_of(load(shorter, data)->train({}, {})));
  EXPECT_EQ(part["epochs"][2]["train_loss"], result["epochs"][2]["train_loss"]);
  EXPECT_EQ(part["final_loss"], result["epochs"][2]["train_loss"]);
  EXPECT_EQ(result["epochs"][0]["train_loss"], load(spec, data)->start_loss());
  ASSERT_EQ(result["teleports"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& teleport = result["teleports"][i];
    EXPECT_EQ(teleport["step"], 8 + i);
    EXPECT_EQ(teleport["epoch"], 1);
    EXPECT_EQ(teleport["batch"], i);
    for (const char* key : {"accepted", "loss_before", "loss_after", "drift", "evaluations"}) {
      EXPECT_TRUE(teleport.contains(key)) << key;
    }
  }
}

TEST(RunFiles, ADivergedRunOfMiniBatchesEndsWithTheLossAtWhichItShowed) {
  DataCache data;
  const NetworkRunSpec spec{
      .data = "regression", .samples = 40, .learning_rate = RateSpec{1e3}, .batch = 4, .epochs = 3};
  const NetworkResult run = load(spec, data)->train({}, {});
  EXPECT_EQ(run.summary.status, RunStatus::diverged);
  const auto result = nlohmann::json::parse(json_of(run));
  EXPECT_EQ(result["status"], "diverged");
  EXPECT_TRUE(result["final_loss"].is_string()) << result["final_loss"];
  EXPECT_EQ(result["final_loss"], result["epochs"].back()["train_loss"]);
  expect_same_as_written(run);
}

TEST(RunFiles, TheStartLossIsThatOfTheFirstRow) {
  DataCache data;
  const NetworkRunSpec spec{.data = "regression", .steps = 1, .seed = 3};
  const double loss = load(spec, data)->start_loss();
  EXPECT_EQ(load(spec, data)->train({}, {}).summary.trace.rows.at(0).loss, loss);
}

}  // namespace
}  // namespace symport::lab
