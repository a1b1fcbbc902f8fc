// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// More steps than a minute has time for.
const char* const endless = "1e12";

TEST(Streams, AClosedReaderDoesNotCrashAndTheRunIsStillWritten) {
  const TemporaryDirectory directory;
  const Finished run = symport({"optimize", "booth", "--json", "--out", directory / "run"},
                               {.close_stdout_early = true});
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(directory / "run/summary.json"));
}

TEST(Streams, AFullDiskBehindStdoutIsAnError) {
  const Finished run = symport({"list"}, {.stdout_file = "/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write to standard output"));
}

Finished long_run(std::vector<std::string> more, Surroundings where) {
  std::vector<std::string> words{"optimize", "booth", "--steps", endless, "--lr", "1e-9"};
  words.insert(words.end(), more.begin(), more.end());
  where.meanwhile = send_after(std::chrono::milliseconds(1600), SIGTERM);
  return symport(words, where);
}

TEST(Progress, IsALineOnATerminalThatIsErasedAtTheEnd) {
  const Finished run =
      long_run({}, {.environment = {{"TERM", "xterm"}}, .stderr_on_terminal = true});
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_THAT(run.err, HasSubstr("booth: step "));
  const std::size_t last = run.err.rfind("booth: step ");
  EXPECT_THAT(run.err.substr(last), HasSubstr("\r\033[K"));
}

TEST(Progress, IsSilentForShortRunsAndWhereNobodyWantsIt) {
  const Surroundings terminal{.environment = {{"TERM", "xterm"}}, .stderr_on_terminal = true};
  const Surroundings dumb{.environment = {{"TERM", "dumb"}}, .stderr_on_terminal = true};
  EXPECT_EQ(symport({"optimize", "booth"}, terminal).err, "");
  const auto err_of = [](const char* flag, const Surroundings& where) {
    return std::async(std::launch::async, [=] { return long_run({flag}, where).err; });
  };
  auto quiet = err_of("--quiet", terminal), off = err_of("--no-progress", terminal),
       plain = err_of("--seed=1", dumb);
  EXPECT_THAT(quiet.get(), Not(HasSubstr("booth: step")));
  EXPECT_THAT(off.get(), Not(HasSubstr("booth: step")));
  EXPECT_THAT(plain.get(), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace symport::cli::testing
