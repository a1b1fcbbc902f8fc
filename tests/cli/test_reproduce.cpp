// SPDX-License-Identifier: MIT
// `symport reproduce`, on small experiments of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/experiment_place.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(Reproduce, RunsEveryMethodWithEverySeedAndComparesTheNumbers) {
  const Place place(std::string(regression) + met);
  const Finished run = place.reproduce({"--full", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  const json result = json::parse(run.out);
  EXPECT_TRUE(result["met"]);
  EXPECT_EQ(result["figures"][0]["figure"], "one/a");
  EXPECT_LT(result["figures"][0]["expected"][0]["found"].get<double>(), 0.5);
  for (const char* folder : {"plain-1", "plain-2", "plain-3", "gl-at-5-1", "gl-at-5-3"}) {
    EXPECT_TRUE(fs::exists(place.out + "/one/a/" + folder + "/summary.json")) << folder;
  }
  EXPECT_THAT(read_file(place.out + "/one/a.html"), HasSubstr("Regression"));
}

TEST(Reproduce, TheQuickFormReplacesOptionsAndSeeds) {
  const Place place(std::string(regression) + met);
  const Finished run = place.reproduce({"one"});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("ok"));
  EXPECT_FALSE(fs::exists(place.out + "/one/a/plain-2"));
  EXPECT_THAT(read_file(place.out + "/one/a/plain-1/config.toml"), HasSubstr("steps = 30"));
  EXPECT_THAT(read_file(place.out + "/one/a/gl-at-5-1/config.toml"), HasSubstr("teleport = \"4\""));
}

TEST(Reproduce, ANumberOutsideItsIntervalIsAFailureThatSaysWhich) {
  const Place place(std::string(regression) +
                    "[[expect]]\nrun = \"plain\"\ncolumn = \"train_loss\"\nat = 30\n"
                    "statistic = \"mean\"\nquick = [0.0, 1e-9]\n");
  const Finished run = place.reproduce({});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("FAILED mean train_loss of 'plain' at 30"));
  EXPECT_THAT(run.err, HasSubstr("1 of the expected numbers is outside"));
}

TEST(Reproduce, GoesOnWhereItWasInterrupted) {
  std::string text = std::string(regression) + met;
  text.replace(text.find("steps = 30"), 10, "steps = 300000");
  const Place place(text);
  const Finished cut = place.reproduce({}, {.meanwhile = [&](int process) {
                                         wait_until_exists(place.out + "/one/a/plain-1", process);
                                         ::kill(process, SIGINT);
                                       }});
  EXPECT_EQ(cut.exit_code, 130);
  EXPECT_THAT(cut.err, HasSubstr("--continue"));
  EXPECT_EQ(place.reproduce({}).exit_code, 2) << "there are files already";
  const Place whole(std::string(regression) + met);
  ASSERT_EQ(whole.reproduce({}).exit_code, 0);
  // Complete runs are kept as they are.
  const auto written = fs::last_write_time(whole.out + "/one/a/plain-1/summary.json");
  EXPECT_EQ(whole.reproduce({"--continue"}).exit_code, 0);
  EXPECT_EQ(fs::last_write_time(whole.out + "/one/a/plain-1/summary.json"), written);
  EXPECT_EQ(whole.reproduce({"--force"}).exit_code, 0);
  EXPECT_NE(fs::last_write_time(whole.out + "/one/a/plain-1/summary.json"), written);
}

TEST(Reproduce, SaysWhatIsWrongWithAnExperiment) {
  const std::string good = std::string(regression) + met;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {changed("title =", "titel ="), "experiment.toml:2: titel: unknown key"},
      {changed("command = \"train\"", "command = \"fly\""), "allowed is train, optimize"},
      {changed("seeds = [1, 2, 3]", "seeds = [-1]"), "seeds: allowed are whole numbers"},
      {changed("steps = 60", "stepz = 60"), "experiment.toml:8: stepz: unknown key"},
      {changed("quick.teleport", "quick.telepart"), "telepart: unknown key"},
      {changed("run = \"GL, at 5\"", "run = \"GL\""), "there is no run 'GL'"},
      {changed("[0.0, 0.99]", "[0.9, 0.0]"), "allowed is an interval"},
      {changed("\"train_loss\"", "\"tran_loss\""), "there is no 'tran_loss'"},
      {"title = ", "experiment.toml:1"},
  };
  for (const auto& c : cases) {
    const Place place(c.text);
    const Finished run = place.reproduce({});
    EXPECT_EQ(run.exit_code, 2) << c.message;
    EXPECT_THAT(run.err, HasSubstr(c.message));
  }
  const Place place(good);
  EXPECT_THAT(place.reproduce({"two"}).err, HasSubstr("FIGURE: found 'two'"));
  EXPECT_THAT(place.reproduce({"--full", "--quick"}).err,
              HasSubstr("--full: cannot be combined with --quick"));
}

constexpr const char* swept = R"(
title = "Sweep"
see = "Both fall."
command = "train"
seeds = [1, 2, 3]
show = ["loss"]
[options]
data = "regression"
steps = 40
[axis.width]
label = "width"
values = [4, 8, 16]
quick = [4, 8]
layers = ["5,4,8", "5,8,8", "5,16,8"]
[axis.steps]
label = "steps"
values = [1, 3]
search-steps = [1, 3]
[[run]]
name = "plain"
over = "width"
[[run]]
name = "alone"
[[run]]
name = "paper"
teleport = "5"
symmetry = "paper"
over = ["steps", "width"]
[[figure]]
id = "end"
title = "End"
see = "It is small."
label = "loss"
runs = ["plain"]
column = "train_loss"
[[figure]]
id = "map"
title = "Map"
see = "Some are faster."
label = "speed-up"
runs = ["paper"]
column = "step"
at_loss = 30
speed_up_over = "alone"
)";

TEST(Reproduce, RepeatsMethodsAlongAxes) {
  const Place place(std::string(swept) +
                    "[[expect]]\nrun = \"plain\"\ncolumn = \"train_loss\"\nreduce = "
                    "\"share_missing\"\nquick = [0, 0]\n"
                    "[[expect]]\nrun = \"paper, steps 3, width 8\"\ncolumn = \"accepted\"\nquick "
                    "= [1, 1]\n");
  const std::string pictures = place.directory / "pictures";
  const Finished run = place.reproduce({"--figures", pictures});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("ok     share missing of the median train_loss of 'plain'"));
  EXPECT_TRUE(fs::exists(place.out + "/one/a/paper-steps-1-width-4-3/summary.json"));
  EXPECT_FALSE(fs::exists(place.out + "/one/a/plain-width-16-1")) << "not in the quick form";
  EXPECT_THAT(read_file(place.out + "/one/a/plain-width-8-1/config.toml"), HasSubstr("[5, 8, 8]"));
  EXPECT_THAT(read_file(pictures + "/one-a-end.svg"), HasSubstr("<svg"));
  EXPECT_THAT(read_file(pictures + "/one-a-map-paper.svg"), HasSubstr("class=\"cell"));
}

TEST(Reproduce, SaysWhatIsWrongWithASweep) {
  const std::pair<std::string, const char*> cases[] = {
      {"quick = [4, 8]", "quick = [5]"},
      {"over = \"width\"", "over = \"with\""},
      {"layers = [\"5,4,8\", \"5,8,8\", \"5,16,8\"]", "layers = [\"5,4,8\"]"},
      {"runs = [\"plain\"]", "runs = [\"alone\"]"},
      {"speed_up_over = \"alone\"", "speed_up_over = \"plain\""},
      {"at_loss = 30", "at_loss = 30\nat = 3"},
  };
  const char* messages[] = {"5 is not among the values", "there is no axis 'with'",
                            "as long as the values",     "allowed are runs with the same axes",
                            "'plain' has axes",          "one of at, at_loss, at_change"};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    std::string text = swept;
    text.replace(text.find(cases[i].first), cases[i].first.size(), cases[i].second);
    const Place place(text);
    const Finished run = place.reproduce({});
    EXPECT_EQ(run.exit_code, 2) << messages[i];
    EXPECT_THAT(run.err, HasSubstr(messages[i]));
  }
}

TEST(Reproduce, GoesOnWithoutDataThatCannotBeFetched) {
  const Place place(std::string(regression) + met);
  const std::string experiments = place.experiments;
  fs::create_directories(experiments + "/images");
  write_file(experiments + "/images/experiment.toml",
             "title = \"a\"\nsee = \"b\"\ncommand = \"train\"\nseeds = [1]\n[options]\ndata = "
             "\"mnist\"\nlayers = [784, 10]\nbatch = 20\n[[run]]\nname = \"one\"\n");
  const std::string empty = place.directory / "empty";
  fs::create_directories(empty);
  const Finished run =
      place.reproduce({"--data-dir", place.directory / "data"}, {.environment = {{"PATH", empty}}});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("one/a: Regression")) << run.err;
  EXPECT_THAT(run.err, HasSubstr("symport data fetch mnist --data-dir"));
  EXPECT_THAT(run.err, HasSubstr("skipped, data unavailable: images"));
  EXPECT_THAT(run.err, HasSubstr("symport reproduce images"));
}

/// The words of a picture, and how many lines it has of each class.
std::multiset<std::string> shape_of(const std::string& svg) {
  std::multiset<std::string> parts;
  for (const std::string& line : lines_of(svg)) {
    if (const auto at = line.find('>'); line.starts_with("<text")) parts.insert(line.substr(at));
    if (line.starts_with("<path")) parts.insert(line.substr(0, line.find(" d=")));
  }
  return parts;
}

TEST(Pictures, OnThePagesAreWhatTheProgramDraws) {
  const TemporaryDirectory directory;
  const fs::path source = SYMPORT_SOURCE_DIR;
  const Finished run = symport({"reproduce", "fig1", "fig2", "fig3", "fig7/rosenbrock",
                                "--experiments", (source / "experiments").string(), "--out",
                                directory / "runs", "--figures", directory / "figures"});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  for (const auto& [stored, made] :
       {std::pair{"rosenbrock-trajectories.svg", "fig2-rosenbrock-level-sets.svg"},
        std::pair{"ellipse-trajectories.svg", "fig1-level-sets.svg"},
        std::pair{"booth-trajectories.svg", "fig2-booth-level-sets.svg"},
        std::pair{"rosenbrock-gradient.svg", "fig7-rosenbrock-gradient-loss.svg"},
        std::pair{"regression-adagrad.svg", "fig3-adagrad-loss.svg"},
        std::pair{"regression-loss.svg", "fig3-gradient-descent-loss.svg"}}) {
    EXPECT_EQ(shape_of(read_file(source / "docs/pictures" / stored)),
              shape_of(read_file(directory.path() / "figures" / made)))
        << "scripts/pictures makes " << stored << " anew";
  }
}

}  // namespace
}  // namespace symport::cli::testing
