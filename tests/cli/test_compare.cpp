// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

Words compare_words(const Words& more) {
  Words words{"compare"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json compared(Words more) {
  more.insert(more.end(), {"--json", "--quiet"});
  const bool has_target = std::find(more.begin(), more.end(), "--target") != more.end();
  if (!has_target) more.insert(more.end(), {"--target", "rel:0.001"});
  const Finished run = symport(compare_words(more));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.exit_code == 0 ? json::parse(run.out) : json();
}

const json& method_of(const json& result, const std::string& name, std::size_t problem = 0) {
  for (const json& entry : result["problems"][problem]["methods"]) {
    if (entry["method"] == name) return entry;
  }
  throw std::runtime_error("no method " + name);
}

const json& verdict_of(const json& result, const std::string& method, const std::string& baseline) {
  for (const json& verdict : result["verdicts"]) {
    if (verdict["method"] == method && verdict["baseline"] == baseline) return verdict;
  }
  throw std::runtime_error("no verdict on " + method);
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  return value == "inf" ? INFINITY : value == "-inf" ? -INFINITY : NAN;
}

/// One teleport to the top eigenvector of a quadratic makes gradient descent Newton's method.
TEST(Compare, SaysThatTeleportationHelpedWhereItDoes) {
  const json result = compared({"quadratic", "--method", "gd+teleport:at=0", "--budget",
                                "1000evals", "--grid", "1e-4..1:3", "--seeds", "8"});
  const json& verdict = verdict_of(result, "gd+teleport:at=0", "gd");
  EXPECT_EQ(verdict["outcome"], "helped") << verdict;
  EXPECT_GT(number(verdict["speed_up"]["interval"][0]), 1.0);
  EXPECT_THAT(verdict["text"].get<std::string>(), HasSubstr("teleportation helped: speed-up"));
  EXPECT_EQ(verdict["pairs"], 8);
  // The numbers are those of the runs: medians of costs, and of paired ratios.
  const json& plain = method_of(result, "gd")["runs"];
  const json& other = method_of(result, "gd+teleport:at=0")["runs"];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(plain[i]["seed"], other[i]["seed"]);
    ratios.push_back(number(plain[i]["evaluations"]) / number(other[i]["evaluations"]));
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_NEAR(number(verdict["speed_up"]["median"][0]), std::sqrt(ratios[3] * ratios[4]), 1e-9);
  EXPECT_NEAR(number(verdict["speed_up"]["interval"][0]), ratios[0], 1e-9);
  EXPECT_NEAR(number(verdict["speed_up"]["interval"][1]), ratios[7], 1e-9);
}

/// A single early teleport on Rosenbrock's function leads into the valley's far end (README).
TEST(Compare, SaysThatTeleportationDidNotHelpWhereItHurts) {
  const json result =
      compared({"rosenbrock", "--method", "gd+random:every=5", "--budget", "3000evals", "--target",
                "rel:0.01", "--grid", "1e-4..1e-2:3", "--seeds", "8"});
  const json& verdict = verdict_of(result, "gd+random:every=5", "gd");
  EXPECT_EQ(verdict["outcome"], "did not help") << verdict;
  EXPECT_LT(number(verdict["speed_up"]["interval"][1]), 1.1);
  EXPECT_THAT(verdict["text"].get<std::string>(), HasSubstr("teleportation did not help here"));
}

/// Teleports that are never made change nothing: not even a second run can tell them apart.
TEST(Compare, ATeleportThatNeverComesDidNotHelp) {
  const json result = compared({"booth", "--method", "gd+teleport:at=100000", "--budget",
                                "300evals", "--seeds", "6", "--lr", "0.08"});
  const json& verdict = verdict_of(result, "gd+teleport:at=100000", "gd");
  EXPECT_EQ(verdict["outcome"], "did not help");
  EXPECT_EQ(verdict["speed_up"]["interval"], json::array({1.0, 1.0}));
  EXPECT_THAT(verdict["text"].get<std::string>(), HasSubstr("A gain of 10 % is ruled out"));
}

TEST(Compare, SaysThatItCannotTell) {
  // Too few seeds for an interval.
  const json few = compared({"quadratic", "--method", "gd+teleport:at=0", "--budget", "500evals",
                             "--grid", "1e-4..1:2", "--seeds", "3"});
  const json& verdict = verdict_of(few, "gd+teleport:at=0", "gd");
  EXPECT_EQ(verdict["outcome"], "cannot tell");
  EXPECT_THAT(verdict["text"].get<std::string>(),
              HasSubstr("on all 3 seeds, which decides nothing"));
  EXPECT_THAT(verdict["text"].get<std::string>(), HasSubstr("3 pairs are too few"));
  // Nobody gets to the target.
  const json far = compared({"rosenbrock", "--method", "gd+teleport:every=10", "--budget",
                             "30evals", "--target", "1e-20", "--lr", "1e-3", "--seeds", "6"});
  const json& open = verdict_of(far, "gd+teleport:every=10", "gd");
  EXPECT_EQ(open["outcome"], "cannot tell");
  EXPECT_THAT(open["text"].get<std::string>(),
              HasSubstr("neither reached the target in 6 of 6 pairs"));
  EXPECT_EQ(method_of(far, "gd")["evaluations"]["median"], "inf");
}

TEST(Compare, EvaluationsAreThoseOfTheRunItself) {
  // The same run by symport optimize, with the start that the comparison gave it.
  const TemporaryDirectory directory;
  const std::string out = directory / "runs", with_ascent = "gd+teleport:at=2,search=ascent";
  const json result = compared({"booth", "--method", with_ascent, "--lr", "0.08", "--budget",
                                "300evals", "--seeds", "2", "--out", out});
  const std::string run = out + "/booth/gd-teleport-at-2-search-ascent-1";
  const Finished again = symport({"optimize", "--config", run + "/config.toml", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const json repeated = json::parse(again.out),
             kept = json::parse(read_file(run + "/summary.json"));
  EXPECT_EQ(repeated["final_loss"], kept["final_loss"]);
  EXPECT_EQ(repeated["evaluations"], kept["evaluations"]);
  EXPECT_EQ(kept["status"], "step_limit");
  ASSERT_EQ(repeated["teleports"].size(), 1u);
  // The first row at or below the target, in the run's own trace.
  std::istringstream trace(read_file(run + "/trace.csv"));
  std::string line;
  std::getline(trace, line);
  const json& reached = method_of(result, with_ascent)["runs"][1];
  ASSERT_TRUE(reached["reached"]);
  double start = 0.0;
  for (bool first = true; std::getline(trace, line); first = false) {
    std::vector<double> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(std::stod(cell));
    if (first) start = cells[1];
    if (cells[1] > 1e-3 * start) continue;
    EXPECT_EQ(cells[0], number(reached["steps"]));
    EXPECT_EQ(cells[4], number(reached["evaluations"]));
    // Every step costs a gradient, the start one, and the teleport what its certificate says.
    const double teleport = number(repeated["teleports"][0]["evaluations"]) + 1.0;
    EXPECT_EQ(cells[4], 1.0 + cells[0] + (cells[0] >= 2 ? teleport : 0.0));
    break;
  }
}

TEST(Compare, SeedsArePairedAndNotThoseOfTuning) {
  const TemporaryDirectory directory;
  const std::string out = directory / "runs";
  compared({"rosenbrock", "--method", "gd+teleport:every=10", "--method", "adam", "--budget",
            "50evals", "--grid", "1e-3..1e-2:1", "--seeds", "2", "--seed", "5", "--out", out});
  const auto start_of = [&](const std::string& run) {
    const std::string config = read_file(out + "/rosenbrock/" + run + "/config.toml");
    return config.substr(config.find("start"), config.find("optimizer") - config.find("start"));
  };
  EXPECT_EQ(start_of("gd-5"), start_of("gd-teleport-every-10-5"));
  EXPECT_EQ(start_of("gd-5"), start_of("adam-5"));
  EXPECT_NE(start_of("gd-5"), start_of("gd-6"));
}

TEST(Compare, EveryMethodIsTunedOnTheSameGridAndTheCostIsReported) {
  const json result = compared({"booth", "--method", "gd+teleport:at=0", "--method", "gd:lr=0.05",
                                "--tune", "--grid", "1e-3..1:1", "--tuning-seeds", "2", "--budget",
                                "100evals", "--seeds", "2"});
  for (const char* name : {"gd", "gd+teleport:at=0"}) {
    const json& entry = method_of(result, name);
    EXPECT_TRUE(entry["tuned"]);
    EXPECT_EQ(entry["tuning"]["runs"], 4 * 2) << name;
    EXPECT_GT(entry["tuning"]["evaluations"].get<double>(), 8.0);
  }
  // Booth's largest curvature is 18: of 0.001, 0.01, 0.1, 1 the best is 0.1.
  EXPECT_EQ(method_of(result, "gd")["learning_rate"], "0.1");
  EXPECT_FALSE(method_of(result, "gd:lr=0.05")["tuned"]);
  EXPECT_EQ(method_of(result, "gd:lr=0.05")["learning_rate"], "0.05");
}

TEST(Compare, SaysWhenTheBestRateIsAtTheEndOfTheGrid) {
  const json result = compared({"booth", "--method", "gd", "--grid", "1e-4..1e-3:1", "--budget",
                                "100evals", "--seeds", "1"});
  EXPECT_TRUE(method_of(result, "gd")["at_edge_of_grid"]);
  EXPECT_THAT(result["notes"].dump(), HasSubstr("a wider --grid may be fairer"));
}

TEST(Compare, CountsDivergedRunsAndTreatsThemAsNotReached) {
  const json result = compared({"rosenbrock", "--method", "gd", "--method", "gd+teleport:at=5",
                                "--lr", "0.5", "--budget", "200evals", "--seeds", "6"});
  EXPECT_EQ(method_of(result, "gd")["diverged"], 6);
  EXPECT_EQ(method_of(result, "gd")["reached"], 0);
  EXPECT_EQ(method_of(result, "gd")["runs"][0]["last_loss"], "inf");
}

TEST(Compare, ARunThatDivergesBehindTheTargetIsNotCountedAsDiverged) {
  // The start is below the target already.
  const json result = compared({"booth", "--method", "gd", "--lr", "0.5", "--budget", "500evals",
                                "--seeds", "2", "--target", "1e6"});
  EXPECT_EQ(method_of(result, "gd")["reached"], 2);
  EXPECT_EQ(method_of(result, "gd")["diverged"], 0);
  EXPECT_EQ(method_of(result, "gd")["diverged_later"], 2);
  EXPECT_THAT(result["notes"].dump(),
              HasSubstr("gd reached the target on booth and diverged afterwards in 2 runs"));
}

TEST(Compare, ProfilesProblemsAndSeedsTogether) {
  const json result =
      compared({"booth", "quadratic", "--method", "gd", "--method", "newton", "--method",
                "gd+teleport:at=0", "--budget", "400evals", "--grid", "1e-3..1:3", "--seeds", "3"});
  ASSERT_EQ(result["profile"].size(), 3u);
  double best = 0.0;
  for (const json& method : result["profile"]) {
    EXPECT_EQ(method["pairs"], 6);
    for (const json& ratio : method["ratios"]) best += ratio == 1.0 ? 1.0 : 0.0;
  }
  EXPECT_GE(best, 6.0) << "somebody is the best on each";
  // Over both problems, too.
  const auto over_all = std::count_if(result["verdicts"].begin(), result["verdicts"].end(),
                                      [](const json& v) { return v["problem"].is_null(); });
  EXPECT_EQ(over_all, 2) << "against the best of each, and against gd";
}

TEST(Compare, ComparesNetworksUnderAClock) {
  const json result = compared({"regression", "--method", "gd:lr=auto+gl:every=2,search-steps=1",
                                "--method", "gd+random:at=5", "--budget", "100ms", "--lr", "1e-4",
                                "--target", "rel:0.5", "--seeds", "2"});
  const json& gl = method_of(result, "gd:lr=auto+gl:every=2,search-steps=1");
  EXPECT_EQ(gl["learning_rate"], "auto");
  EXPECT_GT(gl["accepted"].get<int>(), 0);
  EXPECT_LT(number(gl["drift"]), 1e-8);
  EXPECT_EQ(gl["reached"], 2);
  for (const json& run : gl["runs"]) EXPECT_LE(number(run["seconds"]), 0.1);
  // Every optimizer is there without teleports as well.
  EXPECT_NO_THROW(method_of(result, "gd:lr=auto"));
  EXPECT_NO_THROW(method_of(result, "gd"));
}

TEST(Compare, SaysWhichMethodIsNotLossInvariant) {
  const json result = compared({"regression", "--method", "gd+paper:at=5", "--budget", "20evals",
                                "--lr", "1e-4", "--seeds", "1"});
  EXPECT_THAT(result["notes"].dump(), HasSubstr("gd+paper:at=5 is not loss-invariant"));
  EXPECT_FALSE(method_of(result, "gd+paper:at=5")["loss_invariant"]);
}

TEST(Compare, AMethodThatFitsSomeProblemsOnlyIsNoted) {
  const json result = compared({"booth", "regression", "--method", "gd", "--method", "gd+gl:at=5",
                                "--budget", "20evals", "--lr", "1e-4", "--seeds", "1"});
  EXPECT_FALSE(method_of(result, "gd+gl:at=5", 0)["fits"]);
  EXPECT_TRUE(method_of(result, "gd+gl:at=5", 1)["fits"]);
  EXPECT_THAT(result["notes"].dump(), HasSubstr("booth has the symmetry SO(2), not gl"));
}

TEST(Compare, ReadsAndWritesAConfiguration) {
  const TemporaryDirectory directory;
  const std::string out = directory / "first", file = directory / "mine.toml";
  write_file(file,
             "problem = [\"booth\"]\nmethod = [\"gd\", \"gd+teleport:at=0\"]\n"
             "budget = \"50evals\"\nlr = 0.05\nseeds = 2\n");
  const json first = compared({"--config", file, "--out", out});
  const json second = compared({"--config", out + "/compare.toml"});
  EXPECT_EQ(method_of(first, "gd+teleport:at=0")["runs"][1]["last_loss"],
            method_of(second, "gd+teleport:at=0")["runs"][1]["last_loss"]);
  EXPECT_EQ(json::parse(read_file(out + "/comparison.json"))["verdicts"][0]["method"],
            "gd+teleport:at=0");
  EXPECT_EQ(lines_of(read_file(out + "/runs.csv")).size(), 1u + 2u * 2u);
  // What is below it are run directories like any other.
  EXPECT_EQ(symport({"report", out, "--out", directory / "page.html"}).exit_code, 0);
  // A list that is none.
  write_file(file, "method = \"gd\"\n");
  const Finished wrong = symport({"compare", "--config", file});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("mine.toml:1: method: allowed is a list of strings"));
}

TEST(Compare, PrintsATableAndWords) {
  const Finished run = symport({"compare", "booth", "--method", "gd+teleport:at=0", "--budget",
                                "100evals", "--lr", "0.05", "--seeds", "6"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part :
       {"booth, target rel:1e-06", "method", "reached", "evaluations", "drift",
        "share solved within a factor", "gd+teleport:at=0 on booth: ", "was given and not tuned"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

TEST(Compare, DoesNotReplaceResultsWithoutForce) {
  const TemporaryDirectory directory;
  const Words words{"compare",  "booth",  "--method", "gd", "--lr",     "0.05",
                    "--budget", "9evals", "--seeds",  "1",  "--report", directory / "page.html"};
  EXPECT_EQ(symport(words).exit_code, 0);
  const Finished again = symport(words);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("exists; --force replaces it"));
  Words forced = words;
  forced.push_back("--force");
  EXPECT_EQ(symport(forced).exit_code, 0);
}

TEST(Compare, ResultsAreNotWrittenThroughLinks) {
  for (const char* name : {"booth", "booth/gd-1", "booth/gd-1/trace.csv", "comparison.json"}) {
    const TemporaryDirectory directory;
    const std::string out = directory / "runs";
    const Words words{"compare", "booth", "--method", "gd", "--lr",  "0.05", "--budget", "9evals",
                      "--seeds", "1",     "--seed",   "1",  "--out", out,    "--force"};
    ASSERT_EQ(symport(words).exit_code, 0);
    const fs::path link = fs::path(out) / name, outside = directory.path() / "outside";
    fs::rename(link, outside);
    fs::create_symlink(outside, link);
    const auto written = fs::last_write_time(outside);
    const Finished run = symport(words);
    EXPECT_EQ(run.exit_code, 2) << name;
    EXPECT_THAT(run.err, HasSubstr("'" + link.string() + "', a symbolic link")) << name;
    EXPECT_TRUE(fs::is_symlink(link)) << name;
    EXPECT_EQ(fs::last_write_time(outside), written) << name;
  }
}

TEST(Compare, WritesItsFilesEvenWhereNothingCanBePrinted) {
  const TemporaryDirectory directory;
  const std::string out = directory / "runs";
  const Finished run = symport({"compare", "booth", "--method", "gd", "--lr", "0.05", "--budget",
                                "9evals", "--seeds", "1", "--out", out},
                               {.stdout_file = "/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write to standard output"));
  EXPECT_EQ(json::parse(read_file(out + "/comparison.json"))["status"], "done");
}

TEST(Compare, WhenInterruptedItKeepsTheSeedsThatAreComplete) {
  const Finished run = symport({"compare", "booth", "--method", "gd", "--lr", "0.05", "--budget",
                                "50ms", "--seeds", "2000", "--json"},
                               {.meanwhile = [](int process) {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(2000));
                                 ::kill(process, SIGINT);
                               }});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of 2000 seeds"));
  const json result = json::parse(run.out);
  EXPECT_EQ(result["status"], "interrupted");
  EXPECT_LT(result["seeds"].size(), 2000u);
  EXPECT_EQ(method_of(result, "gd")["runs"].size(), result["seeds"].size());
  const Finished early =
      symport({"compare", "booth", "--budget", "1000s"}, {.meanwhile = [](int process) {
                std::this_thread::sleep_for(std::chrono::milliseconds(500));
                ::kill(process, SIGINT);
              }});
  EXPECT_EQ(early.exit_code, 130);
  EXPECT_THAT(early.err, HasSubstr("before the first seed"));
}

/// Every command of the page runs as it stands there.
TEST(Compare, TheCommandsOfItsPageRun) {
  const TemporaryDirectory directory;
  std::istringstream page(read_file(SYMPORT_SOURCE_DIR "/docs/compare.md"));
  std::size_t commands = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("symport compare") && !line.starts_with("symport train")) continue;
    while (line.ends_with('\\')) {
      std::string next;
      std::getline(page, next);
      line = line.substr(0, line.size() - 1) + next;
    }
    std::istringstream words(line.substr(0, line.find(" # ")));
    Words arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.erase(arguments.begin());
    const Finished run = symport(arguments, {.directory = directory.path()});
    EXPECT_EQ(run.exit_code, 0) << line << "\n" << run.err;
    ++commands;
  }
  EXPECT_GE(commands, 4u);
}

}  // namespace
}  // namespace symport::cli::testing
