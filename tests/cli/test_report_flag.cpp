// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

const Words training{"train", "--data", "regression", "--steps", "30", "--teleport", "5"};

TEST(ReportFlag, WritesThePageThatReportWouldWrite) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", page = directory / "mine.html";
  const Finished trained = symport(with(training, {"--out", run, "--report", page}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("Written to " + page));
  ASSERT_EQ(symport({"report", run, "--out", directory / "other.html"}).exit_code, 0);
  EXPECT_EQ(read_file(page), read_file(directory / "other.html"));
  EXPECT_THAT(read_file(page), StartsWith("<!doctype html>"));
}

TEST(ReportFlag, NeedsNoRunDirectory) {
  const TemporaryDirectory directory;
  for (const Words& words : {training, Words{"optimize", "booth", "--teleport", "4"}}) {
    const std::string page = directory / words[0];
    const Finished run = symport(with(words, {"--report", page, "--quiet"}),
                                 {.environment = {{"TMPDIR", directory / "."}}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_THAT(read_file(page), HasSubstr("<td>not kept</td>"));
    EXPECT_THAT(read_file(page), HasSubstr("1 teleport, 0 refused"));
  }
  EXPECT_EQ(directory.entries(), 2u) << "nothing temporary stays";
}

TEST(ReportFlag, RefusesAPageThatExistsBeforeTheRun) {
  const TemporaryDirectory directory;
  const std::string page = directory / "page.html";
  write_file(page, "mine");
  for (const Words& words : {training, Words{"optimize", "booth"}}) {
    const Finished run = symport(with(words, {"--report", page, "--out", directory / "run"}));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--report: '" + page + "' exists; --force replaces it"));
  }
  EXPECT_EQ(read_file(page), "mine");
  EXPECT_EQ(directory.entries(), 1u);
  EXPECT_EQ(symport(with(training, {"--report", page, "--force"})).exit_code, 0);
  EXPECT_THAT(read_file(page), StartsWith("<!doctype html>"));
  const Finished nowhere = symport(with(training, {"--report", directory / "none/page.html"}));
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("its directory does not exist"));
  EXPECT_EQ(symport(with(training, {"--report", directory / "."})).exit_code, 2);
}

TEST(ReportFlag, AnInterruptedRunThatIsSavedHasItsPage) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", page = directory / "run/page.html";
  const Finished stopped = symport({"train", "--data", "regression", "--steps", "1e9", "--lr",
                                    "1e-6", "--out", run, "--report", page},
                                   {.meanwhile = [](int process) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(400));
                                     ::kill(process, SIGINT);
                                   }});
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(read_file(page), HasSubstr("<td>interrupted</td>"));
}

TEST(ReportFlag, GoesWithResume) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", page = directory / "page.html";
  ASSERT_EQ(symport(with(training, {"--out", run, "--quiet"})).exit_code, 0);
  ASSERT_EQ(symport({"train", "--resume", run, "--steps", "40", "--report", page}).exit_code, 0);
  EXPECT_THAT(read_file(page), HasSubstr("data-points=\"41\""));
}

}  // namespace
}  // namespace symport::cli::testing
