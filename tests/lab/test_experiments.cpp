// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/reproduce/experiment.hpp"
#include "lab/reproduce/reproduction.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;

TEST(Reduction, TellsPowersLinesAndShares) {
  const std::vector<double> x{1, 2, 4, 8};
  EXPECT_NEAR(reduced(Reduction::exponent, x, {3, 12, 48, 192}), 2.0, 1e-12);
  EXPECT_NEAR(reduced(Reduction::linearity, x, {5, 7, 11, 19}), 1.0, 1e-12);
  EXPECT_LT(reduced(Reduction::linearity, x, {1, -1, 1, -1}), 0.3);
  const double nan = std::nan("");
  EXPECT_EQ(reduced(Reduction::largest, x, {0, nan, 3, 2}), 3.0);
  EXPECT_EQ(reduced(Reduction::share_above_one, x, {0, nan, 3, 0.5}), 0.5);
  EXPECT_EQ(reduced(Reduction::share_missing, x, {0, nan, 3, 0.5}), 0.5);
  EXPECT_TRUE(std::isnan(reduced(Reduction::exponent, x, {3, nan, 48, 192})));
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
    for (const ExperimentRun& run : full.runs) folders.push_back(run.folder());
    std::sort(folders.begin(), folders.end());
    EXPECT_EQ(std::adjacent_find(folders.begin(), folders.end()), folders.end()) << name;
  }
}

}  // namespace
}  // namespace symport::lab
