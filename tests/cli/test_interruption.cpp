// SPDX-License-Identifier: MIT
// The first SIGINT or SIGTERM ends every command: after the step where there are steps, at once
// elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.hpp"
#include "symport/data/npz.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// More steps than a minute has time for.
const char* const endless = "1e12";
/// A search that takes far more than a minute.
const Words long_search{"--search", "random", "--search-steps", "1000000000"};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// After so long the run below has begun; under sanitizers its preparations take a second.
#ifdef __SANITIZE_ADDRESS__
constexpr std::chrono::milliseconds begun(4000);
#else
constexpr std::chrono::milliseconds begun(300);
#endif

TEST(Interruption, FinishesTheStepWritesWhatThereIsAndExits130) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryDirectory directory;
    const Finished run = symport(
        {"optimize", "quadratic:400", "--steps", endless, "--out", directory / "run", "--json"},
        {.meanwhile = send_after(begun, signal)});
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_THAT(run.err, HasSubstr("interrupted"));
    const json result = json::parse(run.out);
    EXPECT_EQ(result["status"], "interrupted");
    EXPECT_EQ(json::parse(read_file(directory / "run/summary.json")), result);
    const auto trace = lines_of(read_file(directory / "run/trace.csv"));
    EXPECT_EQ(trace.size(), result["steps"].get<std::size_t>() + 2);
  }
}

TEST(Interruption, IgnoredSignalsStayIgnored) {
  bool survived = false;
  const Finished run = symport({"optimize", "booth", "--steps", endless, "--lr", "1e-9"},
                               {.ignored_signal = SIGHUP, .meanwhile = [&](int process) {
                                  send_after(std::chrono::milliseconds(200), SIGHUP)(process);
                                  std::this_thread::sleep_for(std::chrono::milliseconds(200));
                                  survived = still_runs(process);
                                  ::kill(process, SIGTERM);
                                }});
  EXPECT_TRUE(survived);
  EXPECT_EQ(run.exit_code, 130) << run.err;
}

TEST(Interruption, ASecondSignalEndsTheProgramAtOnce) {
  const Finished run = symport({"optimize", "booth", "--steps", endless, "--lr", "1e-9"},
                               {.meanwhile = [](int process) {
                                 wait_until_handled(process, SIGINT);
                                 std::this_thread::sleep_for(200ms);
                                 ::kill(process, SIGSTOP);  // both arrive within one step
                                 ::kill(process, SIGINT);
                                 ::kill(process, SIGTERM);
                                 ::kill(process, SIGCONT);
                               }});
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.err, "symport: interrupted\n");
}

TEST(Interruption, EndsAtOnceWhileDataIsRead) {
  const TemporaryDirectory directory;
  std::string table = "a,b,c,y\n";
  for (int i = 0; i < 1'500'000; ++i) table += "0.25,1.5,-3.125,2\n";
  write_file(directory / "large.csv", table);
  for (const int signal : {SIGINT, SIGTERM}) {
    const Finished run = symport({"train", "--data", "csv:" + directory / "large.csv", "--label",
                                  "y", "--layers", "3,3", "--out", directory / "run"},
                                 {.meanwhile = send_after(50ms, signal)});
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_EQ(run.err, "symport: interrupted\n");
    EXPECT_FALSE(fs::exists(directory / "run"));
  }
}

TEST(Interruption, EndsATeleportAtOnceAndWritesNothing) {
  const TemporaryDirectory directory;
  write_npz(directory / "W.npz", {{"W1", {{3, 2}, std::vector<double>{1, 2, 3, -4, 5, 7}}},
                                  {"W2", {{1, 3}, std::vector<double>{1, -2, 3}}}});
  write_npz(directory / "B.npz",
            {{"X", {{1, 2}, std::vector<double>{1, 2}}}, {"Y", {{1, 1}, std::vector<double>{3}}}});
  const Finished run =
      symport(Words{"teleport", "--weights", directory / "W.npz", "--batch", directory / "B.npz",
                    "--activation", "leaky_relu:0.1", "--loss", "mean_squares", "--lr", "0.01",
                    "--out", directory / "V.npz"} +
                  long_search,
              {.meanwhile = send_after(200ms, SIGINT)});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(directory.entries(), 2u);
}

TEST(Interruption, EndsAReportAtOnceAndWritesNothing) {
  const TemporaryDirectory directory;
  ASSERT_EQ(symport({"optimize", "rosenbrock", "--steps", "500000", "--out", directory / "run",
                     "--quiet"})
                .exit_code,
            0);
  const Finished run = symport({"report", directory / "run", "--out", directory / "page.html"},
                               {.meanwhile = send_after(50ms, SIGTERM)});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(Interruption, GivesUpALongSearchAndKeepsTheRun) {
  for (const Words& more : {Words{"--steps", "6", "--teleport", "4"},
                            Words{"--batch", "2", "--epochs", "6", "--teleport", "4"}}) {
    const TemporaryDirectory directory;
    const Finished run =
        symport(Words{"train", "--data", "regression", "--out", directory / "run", "--quiet"} +
                    more + long_search,
                {.meanwhile = send_after(400ms, SIGINT)});
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_THAT(run.err, HasSubstr("to resume it: symport train --resume"));
    const json summary = json::parse(read_file(directory / "run/summary.json"));
    EXPECT_EQ(summary["status"], "interrupted");
    EXPECT_TRUE(summary["teleports"].empty());
    EXPECT_TRUE(fs::exists(directory / "run/checkpoint/latest.npz"));
  }
  const Finished run = symport(Words{"optimize", "booth", "--teleport", "0"} + long_search,
                               {.meanwhile = send_after(200ms, SIGTERM)});
  EXPECT_EQ(run.exit_code, 130) << run.err;
}

}  // namespace
}  // namespace symport::cli::testing
