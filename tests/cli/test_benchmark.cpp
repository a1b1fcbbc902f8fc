// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// Two problems that take no time.
Words small_benchmark(const Words& more, const std::string& budget = "100evals") {
  Words words{"benchmark",      "quick", "--problems", "ellipse",     "--problems", "booth",
              "--methods",      "gd",    "--methods",  "adam",        "--seeds",    "2",
              "--tuning-seeds", "1",     "--grid",     "0.01..0.1:1", "--budget",   budget};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(BenchmarkCommand, ListsSuitesProblemsAndMethods) {
  const Finished list = symport({"benchmark", "--list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  for (const char* word :
       {"quick", "tabular", "full", "cifar10-batches", "completion:20,15,3,10"}) {
    EXPECT_THAT(list.out, HasSubstr(word));
  }
}

TEST(BenchmarkCommand, WritesResultsPageAndFiguresAndGoesOnToTheSame) {
  const TemporaryDirectory room;
  const std::string out = room / "b";
  const Finished first = symport(small_benchmark({"--quiet", "--out", out}));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("In gradient evaluations"));
  EXPECT_THAT(first.out, HasSubstr("adam"));
  for (const char* name : {"benchmark.toml", "results.csv", "benchmark.json", "benchmark.html",
                           "profile-evaluations.svg", "profile-seconds.svg", "sensitivity.svg"}) {
    EXPECT_TRUE(fs::exists(fs::path(out) / name)) << name;
  }
  const std::string results = read_file(fs::path(out) / "results.csv");
  fs::remove(fs::path(out) / "results.csv");
  const Finished again = symport({"benchmark", "--quiet", "--json", "--resume", out});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(fs::path(out) / "results.csv"), results) << "with the times of the files";
  const json result = json::parse(again.out);
  EXPECT_EQ(result["status"], "done");
  EXPECT_EQ(result["seeds"].size(), 2u);
  EXPECT_EQ(symport(small_benchmark({"--out", out})).exit_code, 2)
      << "what is there is not overwritten";
  EXPECT_EQ(symport({"benchmark", "--resume", out, "--out", out}).exit_code, 2);
}

/// Stopped in the middle of a run, and again while it goes on.
TEST(BenchmarkCommand, GoesOnAfterAnInterruption) {
  const TemporaryDirectory room;
  const std::string out = room / "b";
  const std::string long_budget = "20000evals";
  const Finished whole = symport(small_benchmark({"--json", "--quiet"}, long_budget));
  const Finished stopped = symport(small_benchmark({"--quiet", "--out", out}, long_budget),
                                   {.meanwhile = [&](int process) {
                                     wait_until_exists(fs::path(out) / "benchmark.toml", process);
                                     ::kill(process, SIGINT);
                                   }});
  if (stopped.exit_code != 0) {
    EXPECT_EQ(stopped.exit_code, 130);
    EXPECT_THAT(stopped.err, HasSubstr("symport benchmark --resume " + out));
  }
  const Finished rest = symport({"benchmark", "--quiet", "--json", "--resume", out});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  const json expected = json::parse(whole.out), found = json::parse(rest.out);
  for (std::size_t p = 0; p < expected["problems"].size(); ++p) {
    for (std::size_t m = 0; m < expected["problems"][p]["methods"].size(); ++m) {
      const json &a = expected["problems"][p]["methods"][m],
                 &b = found["problems"][p]["methods"][m];
      EXPECT_EQ(a["method"], b["method"]);
      EXPECT_EQ(a["learning_rate"], b["learning_rate"]);
      EXPECT_EQ(a["evaluations"], b["evaluations"]);
    }
  }
}

TEST(BenchmarkCommand, RefusesWhatItDoesNotKnow) {
  const auto error = [](Words words) {
    words.insert(words.begin(), "benchmark");
    const Finished run = symport(words);
    EXPECT_EQ(run.exit_code, 2) << words.back();
    return run.err;
  };
  EXPECT_THAT(error({"quik"}), HasSubstr("quick"));
  EXPECT_THAT(error({"--problems", "elipse"}), HasSubstr("ellipse"));
  EXPECT_THAT(error({"--methods", "gdd"}), HasSubstr("gd"));
  EXPECT_THAT(error({"--tolerance", "2"}), HasSubstr("--tolerance"));
  EXPECT_THAT(error({"--resume", "/nowhere"}), HasSubstr("no such file"));
  EXPECT_THAT(error({"tabular", "--data-dir", "/nowhere"}), HasSubstr("symport data fetch iris"));
}

}  // namespace
}  // namespace symport::cli::testing
