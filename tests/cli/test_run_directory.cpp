// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

std::vector<std::string> names_in(const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

/// A trace without its column of seconds.
std::string timeless(const std::string& csv) {
  std::string text;
  for (const std::string& line : lines_of(csv)) {
    std::istringstream cells(line);
    std::string cell;
    for (int column = 0; std::getline(cells, cell, ','); ++column) {
      if (column != 5) text += cell + ',';
    }
    text += '\n';
  }
  return text;
}

const Words fixed_rosenbrock{"optimize", "rosenbrock", "--teleport", "every:100+99", "--search",
                             "fixed",    "--seed",     "5",          "--quiet"};

TEST(RunDirectory, HoldsConfigTraceTeleportsAndSummary) {
  const TemporaryDirectory directory;
  const std::string out = directory / "deep/er/run";
  const Finished run = symport({"optimize", "booth", "--teleport", "4", "--out", out, "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(out));
  EXPECT_THAT(names_in(out),
              UnorderedElementsAre("config.toml", "trace.csv", "teleports.jsonl", "summary.json"));
  EXPECT_EQ(read_file(out + "/summary.json"), run.out);
  const auto trace = lines_of(read_file(out + "/trace.csv"));
  EXPECT_EQ(trace.size(), 12u) << "a heading and steps 0 to 10";
  EXPECT_EQ(trace[0], "step,loss,grad_sq,learning_rate,evaluations,seconds,teleported,x1,x2");
  const auto teleports = lines_of(read_file(out + "/teleports.jsonl"));
  ASSERT_EQ(teleports.size(), 1u);
  EXPECT_EQ(json::parse(teleports[0]), json::parse(run.out)["teleports"][0]);
}

TEST(RunDirectory, AResultThatCannotBeWrittenIsStillPrinted) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  std::filesystem::create_directories(out + "/trace.csv");
  const Finished run = symport({"optimize", "booth", "--out", out, "--force", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write"));
  EXPECT_EQ(json::parse(run.out)["status"], "step_limit");
}

TEST(RunDirectory, ConfigRepeatsTheRun) {
  const std::vector<Words> runs{
      fixed_rosenbrock,
      {"optimize", "quadratic:5,1e3", "--lr", "auto", "--teleport", "0,3", "--search", "ascent",
       "--search-rate", "0.3", "--bound", "1.75"},
      {"optimize", "booth", "--optimizer", "adam", "--lr", "cosine:0.1,9", "--start", "-1e-7,3",
       "--state", "reset", "--teleport", "2..8:2", "--seed", "18446744073709551615"},
      {"optimize", "factorization:3,4,2", "--teleport", "every:50", "--objective", "gradient_norm",
       "--cap", "3"},
  };
  for (const Words& words : runs) {
    const TemporaryDirectory directory;
    Words first = words;
    first.insert(first.end(), {"--out", directory / "a"});
    ASSERT_EQ(symport(first).exit_code, 0);
    const Finished second =
        symport({"optimize", "--config", directory / "a/config.toml", "--out", directory / "b"});
    ASSERT_EQ(second.exit_code, 0) << second.err;
    EXPECT_EQ(timeless(read_file(directory / "a/trace.csv")),
              timeless(read_file(directory / "b/trace.csv")))
        << words[1];
    EXPECT_EQ(read_file(directory / "a/config.toml"), read_file(directory / "b/config.toml"));
  }
}

TEST(RunDirectory, SameSeedSameBytesAnotherSeedOthers) {
  const TemporaryDirectory directory;
  const auto trace_of = [&](const std::string& name, const std::string& seed) {
    Words words = fixed_rosenbrock;
    words[7] = seed;
    words.insert(words.end(), {"--out", directory / name});
    EXPECT_EQ(symport(words).exit_code, 0);
    return timeless(read_file(directory / (name + "/trace.csv")));
  };
  const std::string once = trace_of("a", "5");
  EXPECT_EQ(once, trace_of("b", "5"));
  EXPECT_NE(once, trace_of("c", "6"));
}

TEST(RunDirectory, FlagsWinOverTheConfig) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "run.toml",
             "function = \"rosenbrock\"\nsteps = 7\nstart = [0.5, -2]\njson = true\nlr = 0.002\n");
  const std::string config = directory / "run.toml";
  const json file = json::parse(symport({"optimize", "--config", config}).out);
  EXPECT_EQ(file["steps"], 7);
  EXPECT_EQ(file["learning_rate"], 0.002);
  const json flags = json::parse(
      symport({"optimize", "ellipse", "--config", config, "--steps", "0", "--start", "1,2"}).out);
  EXPECT_EQ(flags["function"], "ellipse");
  EXPECT_EQ(flags["x"], json({1.0, 2.0}));
}

TEST(RunDirectory, IsNotOverwrittenWithoutForce) {
  const TemporaryDirectory directory;
  const Words words{"optimize", "booth", "--out", directory / "run"};
  ASSERT_EQ(symport(words).exit_code, 0);
  const std::string before = read_file(directory / "run/summary.json");
  write_file(directory / "run/notes.txt", "mine");

  const Finished refused = symport(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("--out: found '" + directory / "run" + "'"));
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(read_file(directory / "run/summary.json"), before);

  Words forced = words;
  forced.insert(forced.end(), {"--force", "--steps", "3"});
  EXPECT_EQ(symport(forced).exit_code, 0);
  EXPECT_EQ(json::parse(read_file(directory / "run/summary.json"))["steps"], 3);
  EXPECT_EQ(read_file(directory / "run/notes.txt"), "mine");
}

TEST(RunDirectory, ForceRemovesOnlyWhatARunWrites) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  const Words train{"train", "--data", "regression", "--steps", "3", "--out", run, "--quiet"};
  ASSERT_EQ(symport(train).exit_code, 0);
  std::filesystem::create_directories(run + "/checkpoint/mine/deep");
  const std::vector<std::string> own{"notes.txt",
                                     ".symport-notes.tmp",
                                     "checkpoint/notes.txt",
                                     "checkpoint/latest.npz.bak",
                                     "checkpoint/.symport-mine.tmp",
                                     "checkpoint/mine/latest.npz",
                                     "checkpoint/mine/deep/summary.json"};
  for (const std::string& name : own) write_file(run + "/" + name, "mine");
  // What a run leaves there, or may have left when it was killed.
  const std::vector<std::string> made{"checkpoint/previous.npz", "checkpoint/next.npz",
                                      "checkpoint/damaged.npz", "checkpoint/.symport-12-3.tmp"};
  for (const std::string& name : made) write_file(run + "/" + name, "old");
  Words forced = train;
  forced.push_back("--force");
  const Finished again = symport(forced);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  for (const std::string& name : own) EXPECT_EQ(read_file(run + "/" + name), "mine") << name;
  for (const std::string& name : made) {
    EXPECT_FALSE(std::filesystem::exists(run + "/" + name)) << name;
  }
}

TEST(RunDirectory, ForceKeepsOtherFilesInACheckpointFolder) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  std::filesystem::create_directories(run + "/checkpoint");
  write_file(run + "/checkpoint/thesis.txt", "mine");
  const Finished done = symport(
      {"train", "--data", "regression", "--steps", "3", "--out", run, "--quiet", "--force"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_file(run + "/checkpoint/thesis.txt"), "mine");
}

TEST(RunDirectory, AnEmptyDirectoryMayBeUsed) {
  const TemporaryDirectory directory;
  EXPECT_EQ(symport({"optimize", "booth", "--out", directory.path().string()}).exit_code, 0);
}

TEST(RunDirectory, PathsThatCannotBeWrittenAreBadUsage) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "x");
  std::vector<std::string> paths{directory / "file", directory / "file/below", "/proc/symport/run",
                                 "", directory / std::string(300, 'n')};
  if (::geteuid() != 0) {
    std::filesystem::create_directory(directory.path() / "locked");
    ::chmod((directory / "locked").c_str(), 0555);
    paths.push_back(directory / "locked");
    paths.push_back(directory / "locked/run");
  }
  for (const std::string& path : paths) {
    const Finished run = symport({"optimize", "booth", "--out=" + path});
    EXPECT_EQ(run.exit_code, 2) << path << run.err;
    EXPECT_EQ(run.out, "") << path;
    EXPECT_THAT(run.err, HasSubstr("--out: ")) << path;
  }
}

TEST(RunDirectory, DivergenceKeepsTheTraceUpToThere) {
  const TemporaryDirectory directory;
  const Finished run =
      symport({"optimize", "booth", "--lr", "10", "--steps", "5000", "--out", directory / "run"});
  EXPECT_EQ(run.exit_code, 1);
  const json summary = json::parse(read_file(directory / "run/summary.json"));
  EXPECT_EQ(summary["status"], "diverged");
  const auto trace = lines_of(read_file(directory / "run/trace.csv"));
  EXPECT_EQ(trace.size(), summary["steps"].get<std::size_t>() + 2);
  EXPECT_THAT(trace.back(), HasSubstr("inf"));
  EXPECT_EQ(read_file(directory / "run/trace.csv").find("-nan"), std::string::npos);
}

TEST(RunDirectory, NamesThatAreNotUtf8Work) {
  const TemporaryDirectory directory;
  const Finished run = symport({"optimize", "booth", "--out", directory / "r\xff\xfe"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(RunDirectory, AFileThatAppearsDuringTheRunIsNotReplaced) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run", page = directory / "page.html";
  const Words endless{"optimize", "booth", "--steps", "1e12", "--lr", "1e-9", "--quiet"};
  const auto put_and_stop = [](const std::string& file) {
    return [=](int process) {
      wait_until_handled(process, SIGINT);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      write_file(file, "mine");
      ::kill(process, SIGINT);
    };
  };
  Words words = endless;
  words.insert(words.end(), {"--out", out});
  Finished run = symport(words, {.meanwhile = put_and_stop(out + "/trace.csv")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("trace.csv"));
  EXPECT_THAT(run.err, HasSubstr("in the meantime"));
  EXPECT_EQ(read_file(out + "/trace.csv"), "mine");

  words = endless;
  words.insert(words.end(), {"--report", page});
  run = symport(words, {.meanwhile = put_and_stop(page)});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(read_file(page), "mine");
  words.push_back("--force");
  run = symport(words, {.meanwhile = put_and_stop(page)});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_NE(read_file(page), "mine");
}

TEST(RunDirectory, OnAFullDiskAFinishedRunThatIsResumedKeepsItsSummary) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  ASSERT_EQ(symport({"train", "--data", "regression", "--steps", "20", "--out", out}).exit_code, 0);
  std::map<std::string, std::string> before;
  const Words names{"config.toml", "trace.csv", "teleports.jsonl", "summary.json", "model.npz"};
  for (const std::string& name : names) before[name] = read_file(out + "/" + name);
  // No byte, the configuration alone, and all but the last file (whose seconds are new ones).
  for (const long room : {0L, 1000L, static_cast<long>(before["summary.json"].size()) - 200}) {
    const Finished run = symport({"train", "--resume", out}, {.largest_file = room});
    EXPECT_EQ(run.exit_code, 1) << room;
    for (const std::string& name : names) EXPECT_EQ(read_file(out + "/" + name), before[name]);
  }
  const Finished longer = symport({"train", "--resume", out, "--steps", "40"}, {.largest_file = 0});
  EXPECT_EQ(longer.exit_code, 1);
  EXPECT_EQ(read_file(out + "/summary.json"), before["summary.json"]);
  EXPECT_EQ(symport({"report", out, "--out", directory / "page.html"}).exit_code, 0);
}

}  // namespace
}  // namespace symport::cli::testing
