// SPDX-License-Identifier: MIT
// A small experiment and a place for its results, for the tests of `symport reproduce`.
#pragma once

#include <string>
#include <vector>

#include "cli/process.hpp"

namespace symport::cli::testing {

inline constexpr const char* regression = R"(
title = "Regression"
see = "The loss falls faster with a teleport."
command = "train"
seeds = [1, 2, 3]
[options]
data = "regression"
steps = 60
[quick]
seeds = [1]
steps = 30
[[run]]
name = "plain"
[[run]]
name = "GL, at 5"
teleport = "5"
quick.teleport = "4"
)";

inline constexpr const char* met = R"(
[[expect]]
run = "GL, at 5"
column = "train_loss"
relative_to = "plain"
full = [0.0, 0.5]
quick = [0.0, 0.99]
)";

/// An experiment file, and where its runs go.
struct Place {
  TemporaryDirectory directory;
  std::string experiments = directory / "experiments", out = directory / "out";

  explicit Place(const std::string& text) { set(text); }
  void set(const std::string& text) const {
    std::filesystem::create_directories(experiments + "/one/a");
    write_file(experiments + "/one/a/experiment.toml", text);
  }
  Finished reproduce(const std::vector<std::string>& more, const Surroundings& where = {}) const {
    std::vector<std::string> words{"reproduce", "--experiments", experiments, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return symport(words, where);
  }
};

}  // namespace symport::cli::testing
