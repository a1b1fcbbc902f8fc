// SPDX-License-Identifier: MIT
// What `symport reproduce` may write, replace and remove.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/experiment_place.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Reproduce, ForceReplacesItsOwnRunsAndNothingElse) {
  const Place place(std::string(regression) + met);
  ASSERT_EQ(place.reproduce({}).exit_code, 0);
  const std::string summary = place.out + "/one/a/plain-1/summary.json";
  const auto written = fs::last_write_time(summary);
  fs::create_directories(place.out + "/one/a/plain-1/checkpoint/mine");
  fs::create_directories(place.out + "/one/a/plain-7");
  fs::create_directories(place.out + "/one/b");
  const std::vector<std::string> own{"notes.txt",
                                     "summary.json",
                                     "one/notes.txt",
                                     "one/a/notes.txt",
                                     "one/a/plain-7/summary.json",
                                     "one/a/plain-1/notes.txt",
                                     "one/a/plain-1/checkpoint/notes.txt",
                                     "one/a/plain-1/checkpoint/mine/latest.npz",
                                     "one/b/config.toml"};
  for (const std::string& name : own) write_file(place.out + "/" + name, "mine");
  EXPECT_EQ(place.reproduce({}).exit_code, 2) << "there are files already";
  const Finished again = place.reproduce({"--force"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(fs::last_write_time(summary), written);
  for (const std::string& name : own) EXPECT_EQ(read_file(place.out + "/" + name), "mine") << name;
  EXPECT_EQ(place.reproduce({"--continue"}).exit_code, 0);
  for (const std::string& name : own) EXPECT_EQ(read_file(place.out + "/" + name), "mine") << name;
}

TEST(Reproduce, DoesNotTouchTheExperimentsThemselves) {
  const std::string text = std::string(regression) + met;
  Place place(text);
  write_file(place.experiments + "/one/a/README.md", "mine");
  place.out = place.experiments;
  for (const char* flag : {"--force", "--continue"}) {
    const Finished run = place.reproduce({flag});
    EXPECT_EQ(run.exit_code, 2) << flag;
    EXPECT_THAT(run.err, HasSubstr("one/a/experiment.toml', which is an experiment")) << flag;
    EXPECT_EQ(read_file(place.experiments + "/one/a/experiment.toml"), text) << flag;
    EXPECT_EQ(read_file(place.experiments + "/one/a/README.md"), "mine") << flag;
  }
}

TEST(Reproduce, AnExperimentWithoutAFolderDoesNotClearTheResults) {
  const Place place(std::string(regression) + met);
  fs::create_directories(place.out + "/other");
  write_file(place.out + "/other/notes.txt", "mine");
  const Finished run = symport({"reproduce", "--experiments", place.experiments + "/one/a", "--out",
                                place.out, "--force", "--quiet"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(read_file(place.out + "/other/notes.txt"), "mine");
}

TEST(Reproduce, FilesThatAreNotOfARunAreNeitherRemovedNorReplaced) {
  for (const char* name : {"config.toml", "summary.json", "model.npz", "checkpoint/latest.npz"}) {
    for (const char* flag : {"--force", "--continue"}) {
      const Place place(std::string(regression) + met);
      const fs::path file = fs::path(place.out) / "one/a/plain-1" / name;
      fs::create_directories(file.parent_path());
      write_file(file, "mine");
      const Finished run = place.reproduce({flag});
      EXPECT_EQ(run.exit_code, 2) << flag << " " << name;
      EXPECT_THAT(run.err, HasSubstr("'" + file.string() + "', which no run wrote"));
      EXPECT_EQ(read_file(file), "mine") << flag << " " << name;
    }
  }
}

TEST(Reproduce, ResultsAreNotWrittenThroughLinks) {
  for (const std::string name : {"one", "one/a", "one/a/plain-1", "one/a.html"}) {
    for (const char* flag : {"--force", "--continue"}) {
      const Place place(std::string(regression) + met);
      const fs::path outside = place.directory.path() / "outside";
      const fs::path link = fs::path(place.out) / name;
      if (name == "one/a.html") {
        write_file(outside, "mine");
      } else {
        ASSERT_EQ(place.reproduce({}).exit_code, 0);
        fs::rename(link, outside);
      }
      fs::create_directories(link.parent_path());
      fs::create_symlink(outside, link);
      const Finished run = place.reproduce({flag});
      EXPECT_EQ(run.exit_code, 2) << flag << " " << name;
      EXPECT_THAT(run.err, HasSubstr("'" + link.string() + "', a symbolic link"));
      if (name == "one/a.html") {
        EXPECT_EQ(read_file(outside), "mine") << flag;
      } else {
        const fs::path rest = fs::path("one/a/plain-1/summary.json").lexically_relative(name);
        EXPECT_TRUE(fs::exists(outside / rest)) << flag << " " << name;
      }
    }
  }
}

TEST(Reproduce, FiguresThatAreThereAreReplacedWithForceOnly) {
  const Place place(std::string(regression) + met);
  const std::string pictures = place.directory / "pictures";
  fs::create_directories(pictures);
  write_file(pictures + "/one-a-loss.svg", "mine");
  write_file(pictures + "/summary.json", "mine");
  const Finished refused = place.reproduce({"--figures", pictures});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--figures: found"));
  EXPECT_EQ(read_file(pictures + "/one-a-loss.svg"), "mine");
  const Finished forced = place.reproduce({"--figures", pictures, "--force"});
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_THAT(read_file(pictures + "/one-a-loss.svg"), HasSubstr("<svg"));
  EXPECT_EQ(read_file(pictures + "/summary.json"), "mine");
}

TEST(Reproduce, AnotherOneInTheSameDirectoryIsRefusedWhileItRuns) {
  const Place place(
      "title = \"Long\"\nsee = \"-\"\ncommand = \"optimize\"\nseeds = [0]\n[options]\nfunction = "
      "\"booth\"\nlr = 1e-9\nsteps = 1000000000000\n[[run]]\nname = \"plain\"\n");
  std::vector<Finished> others;
  const Finished run = place.reproduce({}, {.meanwhile = [&](int process) {
                                         wait_until_exists(place.out + "/one/a/plain-0", process);
                                         for (const char* how : {"--force", "--continue"}) {
                                           others.push_back(place.reproduce({how}));
                                         }
                                         ::kill(process, SIGINT);
                                       }});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  ASSERT_EQ(others.size(), 2u);
  for (const Finished& other : others) {
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("'" + place.out + "', which another run is using"));
  }
}

}  // namespace
}  // namespace symport::cli::testing
