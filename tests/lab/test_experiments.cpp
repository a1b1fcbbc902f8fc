// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/reproduce/experiment_file.hpp"
#include "lab/reproduce/reproduction.hpp"
#include "lab/runs/run_directory.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;

TEST(Reduction, TellsPowersLinesAndShares) {
  const std::vector<double> x{1, 2, 4, 8};
  EXPECT_NEAR(reduced(SweepReduction::exponent, x, {3, 12, 48, 192}), 2.0, 1e-12);
  EXPECT_NEAR(reduced(SweepReduction::linearity, x, {5, 7, 11, 19}), 1.0, 1e-12);
  EXPECT_LT(reduced(SweepReduction::linearity, x, {1, -1, 1, -1}), 0.3);
  const double nan = std::nan("");
  EXPECT_EQ(reduced(SweepReduction::largest, x, {0, nan, 3, 2}), 3.0);
  EXPECT_EQ(reduced(SweepReduction::share_above_one, x, {0, nan, 3, 0.5}), 0.5);
  EXPECT_EQ(reduced(SweepReduction::share_missing, x, {0, nan, 3, 0.5}), 0.5);
  EXPECT_TRUE(std::isnan(reduced(SweepReduction::exponent, x, {3, nan, 48, 192})));
}

TEST(Experiments, AreAllReadableInBothForms) {
  const fs::path directory = fs::path(SYMPORT_SOURCE_DIR) / "experiments";
  const std::vector<std::string> names = experiment_names(directory);
  EXPECT_GE(names.size(), 14u);
  for (const std::string& name : names) {
    const Experiment full = read_experiment(directory, name, false);
    const Experiment quick = read_experiment(directory, name, true);
    ASSERT_EQ(full.methods.size(), quick.methods.size());
    EXPECT_FALSE(full.expectations.empty()) << name;
    EXPECT_FALSE(quick.expectations.empty()) << name;
    std::vector<std::string> folders;
    for (const ExperimentRun& run : full.runs) folders.push_back(folder_name(run.name));
    std::sort(folders.begin(), folders.end());
    EXPECT_EQ(std::adjacent_find(folders.begin(), folders.end()), folders.end()) << name;
  }
}

/// Runs of a reproduction share their data, and are compared as they are in memory.
TEST(Reproduction, ReadsItsDataOnceAndNotItsRuns) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "t.csv", "a,b,k\n1,2,0\n3,1,1\n0,2,0\n2,2,1\n");
  fs::create_directories(directory / "one");
  test::put_file(directory / "one/experiment.toml",
                 "title = \"a\"\nsee = \"b\"\ncommand = \"train\"\nseeds = [1, 2, 3]\n"
                 "[options]\ndata = \"csv:" +
                     (directory / "t.csv").string() +
                     "\"\nlabel = \"k\"\nlayers = [2, 3, 2]\nsteps = 4\n"
                     "[[run]]\nname = \"gd\"\n[[run]]\nname = \"adam\"\noptimizer = \"adam\"\n"
                     "[[expect]]\nrun = \"adam\"\ncolumn = \"step\"\nquick = [4, 4]\n");
  const Experiment experiment = read_experiment(directory.path(), "one", true);
  DataCache data;
  ReproductionOptions options{.out = directory / "out"};
  const auto first = reproduce(experiment, data, options);
  ASSERT_TRUE(first);
  EXPECT_EQ(data.reads(), 1u);
  EXPECT_TRUE(first->outcomes.at(0).met()) << first->outcomes.at(0).found;
  // What was written is the same: a second reproduction reads it and makes no run.
  const auto second = reproduce(experiment, data, options);
  ASSERT_TRUE(second);
  EXPECT_EQ(data.reads(), 1u);
  for (std::size_t i = 0; i < first->results.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const RunRecord &made = first->results[i].seeds[k], &read = second->results[i].seeds[k];
      EXPECT_EQ(made.config_text, read.config_text);
      EXPECT_EQ(made.trace["train_loss"], read.trace["train_loss"]);
      EXPECT_EQ(made.trace["seconds"], read.trace["seconds"]);
    }
  }
}

}  // namespace
}  // namespace symport::lab
