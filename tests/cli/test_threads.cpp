// SPDX-License-Identifier: MIT
// --threads: more than there are, more than the system allows, and exhausted memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "symport/core/thread_scope.hpp"

namespace symport::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Layers wide enough for threads to share their products.
struct WideRun {
  TemporaryDirectory directory;

  WideRun() {
    std::string table = "a,b,c,kind\n";
    for (int i = 0; i < 200; ++i) {
      table += std::to_string(i % 7) + "," + std::to_string(i % 11) + "," + std::to_string(i % 5) +
               "," + std::to_string(i % 3) + "\n";
    }
    write_file(directory / "table.csv", table);
  }

  Finished train(const std::string& threads, const Surroundings& where = {},
                 Words more = {}) const {
    Words words{"train",       "--data",  "csv:" + (directory / "table.csv"),
                "--label",     "kind",    "--layers",
                "3,300,300,3", "--batch", "200",
                "--epochs",    "3",       "--lr",
                "0.01",        "--force", "--threads",
                threads,       "--out",   directory / "out"};
    words.insert(words.end(), more.begin(), more.end());
    return symport(words, where);
  }
  std::string model() const { return read_file(directory / "out/model.npz"); }
};

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Threads, MoreThanThereAreProcessorsIsSaidAndDone) {
  const WideRun run;
  const Finished many = run.train("1024");
  EXPECT_EQ(many.exit_code, 0) << many.err;
  EXPECT_THAT(many.err, HasSubstr("symport train: cannot start 1024 threads; running with " +
                                  std::to_string(processors()) + " (one for every processor)"));
  EXPECT_THAT(run.train("1024", {}, {"--quiet"}).err, Not(HasSubstr("cannot start")));
  EXPECT_THAT(run.train("1").err, Not(HasSubstr("cannot start")));
}

TEST(Threads, ThatTheSystemRefusesAreSaidAndTheResultIsTheSame) {
  const WideRun run;
  for (const char* threads : {"2", "5"}) {
    ASSERT_EQ(run.train(threads).exit_code, 0);
    const std::string reference = run.model();
    const Finished alone = run.train(threads, {.no_more_threads = true});
    EXPECT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_EQ(count_of("cannot start", alone.err), 1u) << alone.err;
    EXPECT_THAT(alone.err,
                HasSubstr("cannot start " + std::string(threads) + " threads; running with 1 ("));
    EXPECT_TRUE(run.model() == reference) << threads;
  }
}

TEST(Threads, ThatAreMissingAreSaidOnceForManyRuns) {
  const WideRun run;
  const std::string data = "csv:" + (run.directory / "table.csv");
  const Finished compared =
      symport({"compare", data, "--label", "kind", "--layers", "3,8,3", "--method", "gd:lr=0.01",
               "--budget", "5evals", "--seeds", "3", "--threads", "1024"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(count_of("symport compare: cannot start 1024 threads", compared.err), 1u)
      << compared.err;
  EXPECT_EQ(count_of("cannot start", compared.err), 1u) << compared.err;
}

TEST(Reproduce, GoesOnWhenNoThreadCanBeStarted) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "experiments/one/a");
  write_file(directory / "experiments/one/a/experiment.toml", R"(
title = "Regression"
see = "Runs on one thread as on several."
command = "train"
seeds = [1, 2, 3]
[options]
data = "regression"
steps = 10
threads = 1000
[[run]]
name = "plain"
)");
  const Finished end =
      symport({"reproduce", "--experiments", directory / "experiments", "--out", directory / "out"},
              {.no_more_threads = true});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(count_of("cannot start 1000 threads; running with 1", end.err), 1u) << end.err;
}

}  // namespace
}  // namespace symport::cli::testing
