// SPDX-License-Identifier: MIT
// What is in a run or data directory neither hangs the program nor talks to the terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// A pipe that nobody writes to.
void put_pipe(const fs::path& path) {
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
}
/// A file without an end.
void put_device(const fs::path& path) {
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
}

TEST(HostileFiles, APipeOrDeviceInARunDirectoryIsRefused) {
  for (const auto put : {put_pipe, put_device}) {
    for (const char* name : {"config.toml", "trace.csv", "teleports.jsonl", "summary.json"}) {
      const TemporaryDirectory directory;
      ASSERT_EQ(symport({"optimize", "booth", "--out", directory / "run"}).exit_code, 0);
      put(directory.path() / "run" / name);
      const Finished run = symport({"report", directory / "run", "--out", directory / "page.html"});
      EXPECT_EQ(run.exit_code, 2) << name;
      EXPECT_THAT(run.err, HasSubstr(name));
      EXPECT_THAT(run.err, HasSubstr("a pipe, device or socket")) << name;
    }
  }
}

TEST(HostileFiles, APipeInPlaceOfACheckpointOrConfigurationIsRefused) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  const Words resume{"train", "--resume", run};
  ASSERT_EQ(symport({"train", "--data", "regression", "--steps", "3", "--out", run}).exit_code, 0);
  put_pipe(run + "/checkpoint/latest.npz");
  Finished resumed = symport(resume);
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("latest.npz: found a pipe, device or socket"));
  put_pipe(run + "/config.toml");
  EXPECT_EQ(symport(resume).exit_code, 2);
  EXPECT_EQ(symport({"train", "--config", run + "/config.toml"}).exit_code, 2);
}

TEST(HostileFiles, PipesAndDevicesInsteadOfDataAreRefused) {
  const TemporaryDirectory directory;
  const fs::path idx = directory.path() / "idx";
  for (const auto put : {put_pipe, put_device}) {
    fs::create_directories(idx);
    put(idx / "train-images-idx3-ubyte");
    put(idx / "train-labels-idx1-ubyte.gz");
    put(directory.path() / "data.npz");
    put(directory.path() / "data.csv");
    for (const Words& words :
         {Words{"--data", "idx:" + idx.string()}, Words{"--data", directory / "data.npz"},
          Words{"--data", "csv:" + directory / "data.csv", "--label", "y"},
          Words{"--data", "regression", "--weights", directory / "data.npz"}}) {
      Words all{"train", "--layers", "5,8", "--steps", "1"};
      all.insert(all.end(), words.begin(), words.end());
      const Finished run = symport(all);
      EXPECT_EQ(run.exit_code, 2) << words[1];
      EXPECT_THAT(run.err, HasSubstr("a pipe, device or socket")) << words[1];
    }
  }
}

TEST(HostileFiles, ControlCharactersDoNotReachTheTerminal) {
  const TemporaryDirectory directory;
  // A title for the window, a cleared screen, C1's form of it, and a bell.
  const std::string evil =
      "\033]0;owned\007\033[2J\xc2\x9b"
      "2J\x9b";
  const auto expect_harmless = [](const std::string& text, const char* where) {
    for (const char* control : {"\033]", "\007", "\033[2J", "\xc2\x9b", "\x9b", "\x7f"}) {
      EXPECT_THAT(text, Not(HasSubstr(control))) << where;
    }
  };
  fs::create_directories(directory / "experiments/one");
  write_file(directory / "experiments/one/experiment.toml", R"(
title = "\u001b]0;owned\u0007\u001b[2J\u007f"
see = "\u009b2J"
command = "optimize"
seeds = [0]
[options]
function = "booth"
steps = 3
[[run]]
name = "plain\u001b[2J"
)");
  const Finished reproduced = symport(
      {"reproduce", "--experiments", directory / "experiments", "--out", directory / "out"});
  expect_harmless(reproduced.out, "reproduce");
  expect_harmless(reproduced.err, "reproduce");
  EXPECT_THAT(reproduced.out, HasSubstr("\\u001b]0;owned\\u0007")) << reproduced.err;

  const Finished refused = symport({"optimize", "--config", directory / ("none" + evil)});
  EXPECT_EQ(refused.exit_code, 2);
  expect_harmless(refused.err, "a file name");

  write_file(directory / "t.csv", "a" + evil + ",y\n1,0\n");
  const Finished columns =
      symport({"train", "--data", "csv:" + directory / "t.csv", "--layers", "1,2"});
  EXPECT_EQ(columns.exit_code, 2);
  expect_harmless(columns.err, "columns of a table");
}

}  // namespace
}  // namespace symport::cli::testing
