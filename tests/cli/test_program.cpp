// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/process.hpp"
#include "lab/options/registry.hpp"

namespace symport::cli::testing {
namespace {

using namespace lab;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Program, HelpNamesEveryCommandAndGoesToStdout) {
  for (const std::string word : {"--help", "-h", "help"}) {
    const Finished help = symport({word});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.err, "");
    for (const char* command : {"optimize", "demo", "list"})
      EXPECT_THAT(help.out, HasSubstr(command));
  }
}

TEST(Program, HelpOfACommandNamesItsFlagsWithTheirDefaults) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"optimize", "--help"}, {"help", "optimize"}}) {
    const std::string help = std::regex_replace(symport(words).out, std::regex("\\s+"), " ");
    for (const char* flag :
         {"--start", "--optimizer", "--lr", "--steps", "--teleport", "--objective", "--search",
          "--search-steps", "--search-rate", "--bound", "--cap", "--state", "--seed", "--out",
          "--force", "--json", "--quiet", "--no-progress", "--config"}) {
      EXPECT_THAT(help, HasSubstr(flag));
    }
    EXPECT_THAT(help, HasSubstr("default gd"));
    EXPECT_THAT(help, HasSubstr("ascent 10, fixed 10, random 10"));
    EXPECT_THAT(help, HasSubstr("1.5 for predicted_decrease"));
  }
}

TEST(Program, VersionIsOneLineOrAnObjectWithAllDependencies) {
  EXPECT_THAT(symport({"--version"}).out, StartsWith("symport 0."));
  const json version = json::parse(symport({"--version", "--json"}).out);
  EXPECT_EQ("symport " + version["symport"].get<std::string>() + "\n", symport({"--version"}).out);
  for (const char* name : {"Eigen", "OpenBLAS", "OpenSSL", "Random123", "fmt", "libpng", "zlib",
                           "CLI11", "nlohmann_json", "toml++", "uPlot", "glibc"}) {
    ASSERT_TRUE(version["dependencies"].contains(name)) << name;
    EXPECT_THAT(version["dependencies"][name].get<std::string>(),
                ::testing::MatchesRegex("[0-9]+\\.[0-9].*"))
        << name;
  }
}

TEST(List, PrintsTheWholeRegistry) {
  const std::string text = symport({"list"}).out;
  const json lists = json::parse(symport({"list", "--json"}).out);
  const auto expect_all = [&](const char* section, const std::vector<std::string>& names) {
    ASSERT_EQ(lists[section].size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(lists[section][i]["name"], names[i]);
      EXPECT_NE(lists[section][i]["summary"], "");
      EXPECT_THAT(text, HasSubstr("\n  " + names[i]));
    }
  };
  expect_all("functions", names_of(functions()));
  expect_all("symmetries", names_of(symmetries()));
  expect_all("optimizers", names_of(optimizers()));
  expect_all("searches", names_of(searches()));
  expect_all("objectives", names_of(objectives()));
  expect_all("states", names_of(states()));
  EXPECT_THAT(text, HasSubstr("quadratic[:N,CONDITION]"));
}

TEST(Demo, IsWhatRunsWithoutArgumentsAndWritesNothing) {
  const TemporaryDirectory directory;
  const Finished run = symport({}, {.directory = directory.path()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* function : {"ellipse", "rosenbrock", "booth", "quadratic", "factorization"}) {
    EXPECT_THAT(run.out, HasSubstr(function));
  }
  EXPECT_EQ(directory.entries(), 0u);
  EXPECT_THAT(run.err, HasSubstr("symport demo --out DIR"));
}

TEST(Program, NoLineOfAnyHelpIsLongerThanATerminalOfAHundredColumns) {
  const json lists = json::parse(symport({"list", "--json"}).out);
  for (const std::string command : {"", "optimize", "train", "teleport", "compare", "reproduce",
                                    "report", "data", "demo", "list"}) {
    const Finished help = command.empty() ? symport({"--help"}) : symport({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    for (const std::string& line : lines_of(help.out)) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(Program, VersionHasAShortFlag) { EXPECT_EQ(symport({"-V"}).out, symport({"--version"}).out); }

TEST(Demo, TeleportationNeverEndsAboveDescentAtTheSameRate) {
  const TemporaryDirectory directory;
  const Finished run = symport({"demo", "--json", "--out", directory / "demo"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json summary = json::parse(run.out);
  EXPECT_EQ(json::parse(read_file(directory / "demo/summary.json")), summary);
  double plain = 0.0;
  int compared = 0;
  for (const json& row : summary["runs"]) {
    if (row["method"] == "gradient descent") plain = row["final_loss"];
    if (row["method"] == "Symport's search") {
      EXPECT_LE(row["final_loss"], plain) << row["function"];
      // Factorization teleports at losses near 1e-12, where rounding alone is some 1e-10 of them.
      EXPECT_LE(row["drift"], 1e-9) << row["function"];
      ++compared;
    }
    const std::string folder = directory / "demo/" + row["folder"].get<std::string>();
    EXPECT_TRUE(std::filesystem::exists(folder + "/config.toml")) << folder;
  }
  EXPECT_EQ(compared, 5);
}

}  // namespace
}  // namespace symport::cli::testing
