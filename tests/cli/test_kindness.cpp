// SPDX-License-Identifier: MIT
// What people type by mistake, or expect to work, and what they are told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "commands/all.hpp"
#include "symport/core/random.hpp"
#include "symport/data/npz.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Files of the kinds that people bring.
struct Desk {
  TemporaryDirectory directory;
  static constexpr Index samples = 60;

  Desk() {
    Random random(5);
    const Matrix X = random.normal_matrix(samples, 4);
    const Matrix Y = X * random.normal_matrix(4, 1);
    std::vector<std::int64_t> from_zero(samples), from_one(samples);
    std::string words = "a,b,c,d,species\n", prices = "a,b,c,d,price\n";
    const char* names[] = {"setosa", "versicolor", "virginica"};
    for (Index i = 0; i < samples; ++i) {
      const Index k = X(i, 0) < -0.4 ? 0 : X(i, 0) < 0.4 ? 1 : 2;
      from_zero[static_cast<std::size_t>(i)] = k;
      from_one[static_cast<std::size_t>(i)] = k + 1;
      std::string row;
      for (Index j = 0; j < 4; ++j) row += std::to_string(X(i, j)) + ",";
      words += row + names[k] + "\n";
      prices += row + std::to_string(Y(i, 0)) + "\n";
    }
    const Array features = to_array<double>(X);
    write_npz(directory / "reg.npz", {{"X", features}, {"Y", to_array<double>(Matrix(Y))}});
    write_npz(directory / "flat.npz", {{"X", features}, {"Y", to_array<double>(Vector(Y.col(0)))}});
    write_npz(directory / "zero.npz", {{"X", features}, {"y", Array{{samples}, from_zero}}});
    write_npz(directory / "one.npz", {{"X", features}, {"y", Array{{samples}, from_one}}});
    write_npz(directory / "turned.npz", {{"W1", to_array<double>(random.normal_matrix(4, 8))},
                                         {"b1", to_array<double>(Vector(Vector::Zero(8)))},
                                         {"W2", to_array<double>(random.normal_matrix(8, 1))},
                                         {"b2", to_array<double>(Vector(Vector::Zero(1)))}});
    write_file(directory.path() / "iris.csv", words);
    write_file(directory.path() / "prices.csv", prices);
  }

  Finished run(const Words& words) const { return symport(words, {.directory = directory.path()}); }
  Finished train(const Words& more) const {
    Words words{"train", "--no-progress"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST(Messages, SayWhatToDo) {
  const Desk desk;
  const struct {
    Words words;
    Words says;
  } cases[] = {
      {{"--data", "reg.npz", "--layers", "4,8,1", "--tele", "5"}, {"did you mean '--teleport'?"}},
      {{"--data", "reg.npz", "--layers", "4-8-1"},
       {"--layers: found '4-8-1'", "widths separated by commas", "such as 784,512,10"}},
      {{"--data", "one.npz", "--layers", "4,8,3"},
       {"--data: found class 3", "classes count from 0", "the last width of --layers is 3",
        "subtract 1"}},
      {{"--data", "one.npz", "--layers", "4,8,2"},
       {"the last width of --layers is 2", "at least 4"}},
      {{"--data", "reg.npz", "--weights", "turned.npz"},
       {"outputs x inputs", "look transposed", "W1.T"}},
      {{"--data", "reg.npz", "--layers", "4,8,1", "--activation", "relu", "--symmetry", "gl",
        "--teleport", "1"},
       {"gl needs an activation with an inverse", "relu", "take the symmetry rescale"}},
      {{"--data", "reg.npz", "--layers", "4,8,1", "--activation", "tanh", "--symmetry", "gl",
        "--teleport", "1"},
       {"tanh has no symmetry that helps", "level_set"}},
      {{"--data", "nosuch.npz", "--layers", "4,8,1"}, {"nosuch.npz: no such file\n"}},
      {{"--config", "nosuch.toml"}, {"nosuch.toml: no such file"}},
      {{"--data", "prices.csv", "--layers", "4,8,1"}, {"--label: missing", "--target", "price"}},
      {{"--data", "reg.npz", "--layers", "4,8,1", "--target", "price"},
       {"--target: applies to csv:FILE only"}},
      {{"--data", "prices.csv", "--target", "price", "--label", "price", "--layers", "4,8,1"},
       {"cannot be combined with --label"}},
      {{"--data", "prices.csv", "--target", "price", "--ignore", "prise"},
       {"--ignore: found 'prise'", "did you mean 'price'?"}},
      {{"--data", "prices.csv", "--target", "price", "--ignore", "price"},
       {"--ignore: found 'price', which is the --target"}},
      {{"--data", "reg.npz", "--ignore", "a"}, {"--ignore: applies to csv:FILE only"}},
  };
  for (const auto& each : cases) {
    const Finished run = desk.train(each.words);
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    for (const std::string& part : each.says) EXPECT_THAT(run.err, HasSubstr(part));
  }
}

TEST(Messages, ATorchFileIsRecognised) {
  const Desk desk;
  // Two stored entries as torch.save names them, in an archive that any zip program would write.
  const auto le = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  const std::string name = "ck/data.pkl";
  const std::string fields = le(20, 2) + le(0, 2) + le(0, 2) + le(0, 4) + le(0, 4) + le(0, 4) +
                             le(0, 4) + le(name.size(), 2) + le(0, 2);
  const std::string local = "PK\x03\x04" + fields + name;
  const std::string central = "PK\x01\x02" + le(20, 2) + fields + le(0, 2) + le(0, 2) + le(0, 2) +
                              le(0, 4) + le(0, 4) + name;
  const std::string end = "PK\x05\x06" + le(0, 2) + le(0, 2) + le(1, 2) + le(1, 2) +
                          le(central.size(), 4) + le(local.size(), 4) + le(0, 2);
  write_file(desk.directory.path() / "model.pt", local + central + end);
  const Finished run = desk.train({"--data", "reg.npz", "--weights", "model.pt"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("this is a PyTorch file"));
  EXPECT_THAT(run.err, HasSubstr("numpy.savez"));
}

TEST(Messages, ARefusedTeleportSaysWhatIsWrongThere) {
  const Finished run = symport({"optimize", "booth", "--lr", "0.3", "--teleport", "0", "--cap",
                                "1e-9", "--search", "ascent", "--steps", "2", "--json"});
  const std::string reason = json::parse(run.out)["teleports"][0]["reason"];
  EXPECT_THAT(reason, HasSubstr("better points exist, but "));
  EXPECT_THAT(reason, Not(HasSubstr("cap or bound")));
}

TEST(Messages, DivergenceSaysWhatToTry) {
  const Desk desk;
  const Finished run = desk.train({"--data", "reg.npz", "--layers", "4,8,1", "--lr", "0.1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("diverged at step"));
  EXPECT_THAT(run.err, HasSubstr("a smaller --lr than 0.1"));
  EXPECT_THAT(run.err, HasSubstr("--lr auto"));
  EXPECT_THAT(run.err, HasSubstr("a sum over the samples"));
  EXPECT_THAT(run.err, HasSubstr("--loss mse"));
}

TEST(Messages, WhatHasNoEffectIsSaid) {
  const Desk desk;
  const Words data{"--data", "reg.npz", "--layers", "4,8,1", "--loss", "mse"};
  const auto with = [&](const Words& more) {
    Words words = data;
    words.insert(words.end(), more.begin(), more.end());
    return desk.train(words);
  };
  EXPECT_THAT(with({"--teleport", "50", "--steps", "3", "--symmetry", "rescale"}).err,
              HasSubstr("--teleport 50 has no effect: the run ends before step 50"));
  EXPECT_THAT(with({"--batch", "500", "--epochs", "1"}).err,
              HasSubstr("--batch 500 is more than the 60 training samples"));
  EXPECT_THAT(symport({"optimize", "booth", "--teleport", "50", "--steps", "10"}).err,
              HasSubstr("--teleport has no effect in a run of 10 steps"));
}

TEST(Kindness, OtherNamesOfThingsAreUnderstood) {
  const Desk desk;
  const Finished run =
      desk.train({"--data", "zero.npz", "--layers", "4,8,3", "--batch", "10", "--epochs", "1",
                  "--optimizer", "SGD", "--learning-rate", "0.125", "--activation", "ReLU",
                  "--loss", "CrossEntropy", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result["optimizer"], "gd");
  EXPECT_EQ(result["learning_rate"], "0.125");
  EXPECT_EQ(result["activation"], "relu");
  EXPECT_EQ(result["loss"], "cross_entropy:mean");
  const Finished twice =
      desk.train({"--data", "zero.npz", "--layers", "4,8,3", "--lr", "1", "--learning-rate", "2"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("more than once"));
}

TEST(Kindness, CsvFilesWithWordsAndWithNumbersToPredictCanBeTrainedOn) {
  const Desk desk;
  const Finished classes =
      desk.train({"--data", "csv:iris.csv", "--label", "species", "--layers", "4,16,3", "--lr",
                  "0.5", "--steps", "200", "--test", "csv:iris.csv"});
  ASSERT_EQ(classes.exit_code, 0) << classes.err;
  EXPECT_THAT(classes.out, HasSubstr("classes: 0 = setosa, 1 = versicolor, 2 = virginica"));
  EXPECT_THAT(classes.out, HasSubstr("training set: "));
  const Finished numbers = desk.train({"--data", "csv:prices.csv", "--target", "price", "--layers",
                                       "4,1", "--activation", "linear", "--loss", "mse", "--lr",
                                       "auto", "--steps", "200", "--json"});
  ASSERT_EQ(numbers.exit_code, 0) << numbers.err;
  EXPECT_LT(json::parse(numbers.out)["final_loss"].get<double>(), 1e-9);
}

TEST(Kindness, OwnTablesNeedNoLayersAndMayHaveAnyNumbersAsClasses) {
  const Desk desk;
  std::string houses = "id,street,area,price\n", kinds = "a,b,kind\n";
  for (int i = 0; i < 30; ++i) {
    houses += fmt::format("{},Street {},{},{}\n", i, i, 30 + i, 1000 * (30 + i));
    kinds += fmt::format("{},{},{}\n", i % 3 - 1, 1 - i % 2, i % 3 + 1);
  }
  write_file(desk.directory.path() / "houses.csv", houses);
  write_file(desk.directory.path() / "kinds.csv", kinds);
  write_file(desk.directory.path() / "some.csv", "a,b,kind\n0,1,2.0\n1,0,3\n");
  const Words prices{"--data",   "houses.csv", "--target", "price", "--ignore", "id",
                     "--ignore", "street",     "--steps",  "5",     "--json"};
  const Finished numbers = desk.train(prices);
  EXPECT_THAT(numbers.err, HasSubstr("targets have a standard deviation of up to 8.66e+03; "
                                     "training is easier with --scaling standard"));
  const Finished scaled = desk.train(with(prices, {"--scaling", "standard", "--out", "run"}));
  ASSERT_EQ(scaled.exit_code, 0) << scaled.err;
  EXPECT_THAT(scaled.err, Not(HasSubstr("standard deviation")));
  const json result = json::parse(scaled.out);
  EXPECT_EQ(result["layers"], json({1, 128, 128, 1}));
  EXPECT_EQ(result["loss"], "mean_squares:mean");
  const Finished again = desk.train({"--config", "run/config.toml", "--json"});
  EXPECT_EQ(json::parse(again.out)["final_loss"], result["final_loss"]) << again.err;

  const Finished classes = desk.train({"--data", "kinds.csv", "--label", "kind", "--steps", "5",
                                       "--test", "some.csv", "--out", "kinds"});
  ASSERT_EQ(classes.exit_code, 0) << classes.err;
  EXPECT_THAT(classes.out, HasSubstr("classes: 0 = 1, 1 = 2, 2 = 3"));
  EXPECT_THAT(classes.out, HasSubstr("test set of 2 samples"));
}

TEST(Kindness, TargetsMayHaveOneDimension) {
  const Desk desk;
  const Words how{"--layers", "4,5,1", "--steps", "3", "--loss", "mse", "--json", "--data"};
  const auto loss = [&](const char* data) {
    Words words = how;
    words.emplace_back(data);
    return json::parse(desk.train(words).out)["final_loss"].get<double>();
  };
  EXPECT_EQ(loss("flat.npz"), loss("reg.npz"));
}

TEST(Kindness, TrainingAccuracyIsThatOfTheTrainingSet) {
  const Desk desk;
  const json result =
      json::parse(desk.train({"--data", "zero.npz", "--layers", "4,16,3", "--lr", "0.5", "--steps",
                              "300", "--validation", "25%", "--json"})
                      .out);
  const double right = result["train_accuracy"];
  EXPECT_GT(right, 0.8);
  EXPECT_NEAR(std::fmod(right * 45.0, 1.0), 0.0, 1e-9) << "a part of 45 samples";
}

TEST(Kindness, ARunStopsAtALossThatIsLowEnough) {
  const Desk desk;
  for (const Words& length :
       {Words{"--steps", "1000"}, Words{"--batch", "20", "--epochs", "1000"}}) {
    Words words{"--data", "reg.npz", "--layers",  "4,8,1", "--loss", "mse",
                "--lr",   "0.05",    "--stop-at", "0.5",   "--json", "--quiet"};
    words.insert(words.end(), length.begin(), length.end());
    const json result = json::parse(desk.train(words).out);
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LT(result["final_loss"], 0.5);
    const json& rows = result.contains("epochs") ? result["epochs"] : result["steps"];
    EXPECT_GE(rows[rows.size() - 2]["train_loss"], 0.5) << "the first that was";
  }
  const Finished function = symport({"optimize", "booth", "--steps", "1000", "--stop-at", "1e-3"});
  EXPECT_THAT(function.out, HasSubstr("the loss is below --stop-at"));
}

TEST(Kindness, SeveralSeedsMakeATable) {
  const Desk desk;
  const Words words{"train",  "--data", "regression", "--steps", "5",        "--seeds",  "3",
                    "--seed", "7",      "--out",      "all",     "--report", "all.html", "--quiet"};
  const Finished run = desk.run(words);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("median of the final training losses of 3 seeds"));
  std::vector<double> losses;
  for (const char* seed : {"7", "8", "9"}) {
    const json one = json::parse(
        desk.run({"train", "--data", "regression", "--steps", "5", "--seed", seed, "--json"}).out);
    const std::string folder = std::string("all/seed-") + seed;
    const json kept = json::parse(read_file(desk.directory.path() / folder / "summary.json"));
    EXPECT_EQ(kept["final_loss"], one["final_loss"]);
    losses.push_back(one["final_loss"]);
  }
  std::sort(losses.begin(), losses.end());
  const Finished numbers = desk.run(
      {"train", "--data", "regression", "--steps", "5", "--seeds", "3", "--seed", "7", "--json"});
  EXPECT_EQ(json::parse(numbers.out)["median_final_loss"], losses[1]);
  EXPECT_TRUE(std::filesystem::exists(desk.directory.path() / "all.html"));
}

TEST(Kindness, AFullBatchRunIsMadeLongerByEitherNameOfItsLength) {
  const Desk desk;
  ASSERT_EQ(desk.run({"train", "--data", "regression", "--steps", "2", "--out", "r"}).exit_code, 0);
  const Finished longer = desk.run({"train", "--resume", "r", "--epochs", "4", "--json"});
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_EQ(json::parse(longer.out)["updates"], 4);
}

TEST(Kindness, StepsOfTheSearchMeanAnAscentEverywhere) {
  for (const Words& what : {Words{"optimize", "booth", "--teleport", "3", "--steps", "10"},
                            Words{"train", "--data", "regression", "--symmetry", "rescale",
                                  "--teleport", "3", "--steps", "10"},
                            Words{"train", "--data", "regression", "--symmetry", "gl", "--teleport",
                                  "3", "--steps", "10"}}) {
    Words words = what;
    words.insert(words.end(), {"--search-steps", "5", "--json"});
    const Finished run = symport(words);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(json::parse(run.out)["search"], "ascent");
  }
}

TEST(Kindness, TheSymmetriesThatAreListedCanBeCompared) {
  for (const auto& [problem, symmetry] : {std::pair{"rosenbrock:2", "SO(2N)"},
                                          {"rosenbrock:2", "so(4)"},
                                          {"quadratic:5,10", "O(n)"},
                                          {"rotated_quadratic:5,10", "O(n)"},
                                          {"factorization", "GL(r)"},
                                          {"booth", "SO(2)"}}) {
    const Finished run =
        symport({"compare", problem, "--method", std::string("gd+") + symmetry + ":every:5",
                 "--budget", "20evals", "--seeds", "2", "--lr", "1e-4", "--quiet"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  const Finished wrong = symport({"compare", "booth", "--method", "gd+SO(4):every:5"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("booth has the symmetry SO(2), not SO(4)"));
}

TEST(Kindness, ALossBelowZeroIsNoReasonToStop) {
  const Finished run = symport(
      {"optimize", "x1^2 + x2^2 - 5", "--start", "1,1", "--steps", "200", "--lr", "0.1", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NEAR(nlohmann::json::parse(run.out)["final_loss"].get<double>(), -5.0, 1e-12);
  const Finished stopped = symport({"optimize", "x1^2 + x2^2 - 5", "--start", "1,1", "--steps",
                                    "200", "--lr", "0.1", "--stop-at=-4"});
  EXPECT_THAT(stopped.out, HasSubstr("the loss is below --stop-at"));
}

TEST(Kindness, SaysWhenTheLossRoseAndWhenAutoDidNotTry) {
  const Finished rose = symport({"train", "--data", "spirals", "--layers", "2,8,2", "--batch", "20",
                                 "--epochs", "3", "--lr", "1000"});
  EXPECT_THAT(rose.out, HasSubstr("try a smaller --lr"));
  EXPECT_THAT(symport({"optimize", "rosenbrock", "--teleport", "auto", "--steps", "100"}).out,
              HasSubstr("none tried"));
}

TEST(Kindness, AFormulaCanBeOptimizedAndTeleported) {
  const Desk desk;
  const Words words{"optimize", "(x1*x2 - 1)^2", "--symmetry", "scaling", "--start",    "3,1",
                    "--lr",     "0.01",          "--steps",    "60",      "--teleport", "every:10"};
  Words kept = words;
  kept.insert(kept.end(), {"--out", "run", "--report", "page.html", "--json"});
  const Finished run = desk.run(kept);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_TRUE(result["teleports"][0]["accepted"]);
  EXPECT_LE(result["teleports"][0]["drift"].get<double>(), 1e-10);
  // The directory repeats the run, and its page has the level sets.
  const Finished again = desk.run({"optimize", "--config", "run/config.toml", "--json"});
  EXPECT_EQ(json::parse(again.out)["final_loss"], result["final_loss"]);
  EXPECT_THAT(desk.run({"report", "run", "--out", "other.html"}).out,
              HasSubstr("Trajectories on level sets"));

  const auto says = [&](const Words& other, const std::string& what) {
    const Finished bad = desk.run(other);
    EXPECT_EQ(bad.exit_code, 2) << bad.out;
    EXPECT_THAT(bad.err, HasSubstr(what));
  };
  says({"optimize", "(x1*x2 - 1)^2", "--symmetry", "rotation", "--start", "3,1", "--teleport", "0"},
       "this is not a symmetry of the function");
  says({"optimize", "x1^2 + 2*x2^2", "--symmetry", "scaling", "--start", "3,1", "--teleport", "0"},
       "this is not a symmetry of your loss");
  says({"optimize", "x1^2", "--teleport", "0", "--start", "1"}, "--symmetry: missing");
  says({"optimize", "x1^2"}, "--start: missing");
  says({"optimize", "x^2 + y^2"}, "a formula in x1, x2, ..., such as x1^2 + x2^2");
  says({"optimize", "x1^2 +", "--start", "1"}, "FUNCTION: column 7: found the end");
  says({"optimize", "booth", "--symmetry", "rotation"}, "booth has its own");
}

TEST(Kindness, ListsNoDefaultThatIsNone) {
  EXPECT_THAT(symport({"list"}).out, HasSubstr("(default :8,6,3)"));
}

TEST(Kindness, AFormulaCanHaveItsOwnChangeOfVariables) {
  const Desk desk;
  const Words run{"--start", "-1,-1",  "--lr",       "0.001", "--steps",
                  "22",      "--json", "--teleport", "19"};
  const auto with = [&](Words words) {
    words.insert(words.begin(), "optimize");
    words.insert(words.end(), run.begin(), run.end());
    return words;
  };
  const std::string formula = "100*(x1^2 - x2)^2 + (x1 - 1)^2";
  // The function that has this h built in takes the same way, as far as its best angle is known:
  // to the root of the rounding.
  const Finished named = desk.run(with({"rosenbrock"}));
  const Finished own = desk.run(
      with({formula, "--symmetry", "variables:10*(x1^2 - x2),x1 - 1:x2 + 1,(x2 + 1)^2 - x1/10"}));
  ASSERT_EQ(own.exit_code, 0) << own.err;
  const json expected = json::parse(named.out), found = json::parse(own.out);
  EXPECT_TRUE(found["teleports"][0]["accepted"]);
  const double loss = expected["final_loss"].get<double>();
  EXPECT_NEAR(found["final_loss"].get<double>(), loss, 1e-6 * loss);

  const auto says = [&](const std::string& symmetry, const std::string& what) {
    const Finished bad = desk.run(with({formula, "--symmetry", symmetry}));
    EXPECT_EQ(bad.exit_code, 2) << bad.out;
    EXPECT_THAT(bad.err, HasSubstr(what));
  };
  says("variables:10*(x1^2 - x2),x1 - 1:x2 + 1,(x2 + 1)^2 - x1",
       "this is not a symmetry of the function");
  says("variables:10*(x1^2 - x2),x1 - 1", "--symmetry: found 'variables:");
  says("variables:x1:x1", "2, one for each variable");
  says("variables:x1,x3:x1,x2", "x1 to x2, as the formula has");
  says("variables:x1,x2 +:x1,x2", "column 5: found the end");
}

TEST(Kindness, EveryFlagIsCompletedAndInTheManual) {
  const std::string manual = symport({"man"}).out;
  EXPECT_THAT(manual, ::testing::StartsWith(".TH SYMPORT 1"));
  const std::string bash = symport({"completion", "bash"}).out;
  const std::string zsh = symport({"completion", "ZSH"}).out;
  const std::string fish = symport({"completion", "fish"}).out;
  for (const Command& command : all_commands()) {
    EXPECT_THAT(bash, HasSubstr("    " + command.name + ") words="));
    for (const Option& option : command.options) {
      if (option.positional) continue;
      EXPECT_THAT(bash, HasSubstr("--" + option.name));
      EXPECT_THAT(zsh, HasSubstr("--" + option.name + "["));
      EXPECT_THAT(fish, HasSubstr(command.name + "' -l " + option.name));
    }
  }
  EXPECT_THAT(manual, HasSubstr("\\-\\-teleport SCHEDULE"));
  // bash itself completes with it.
  const Desk desk;
  write_file(desk.directory.path() / "script", bash);
  const std::string ask = "cd " + desk.directory.path().string() +
                          " && bash -c 'source ./script; COMP_WORDS=(symport train --telepo); "
                          "COMP_CWORD=2; _symport; echo ${COMPREPLY[@]}' > said";
  ASSERT_EQ(std::system(ask.c_str()), 0);
  EXPECT_THAT(read_file(desk.directory.path() / "said"), HasSubstr("--teleport "));
  EXPECT_EQ(symport({"completion"}).exit_code, 2);
}

TEST(Kindness, ASecondReproductionSaysHowToGoOn) {
  const Desk desk;
  std::filesystem::create_directories(desk.directory.path() / "there");
  write_file(desk.directory.path() / "there/file", "x");
  const Finished run = desk.run({"reproduce", "fig2", "--out", "there"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--continue keeps the runs that are complete"));
}

TEST(Kindness, AProgramThatWasMovedFindsTheExperimentsThatWereMovedWithIt) {
  const Desk desk;
  const auto place = desk.directory.path() / "usr";
  std::filesystem::create_directories(place / "bin");
  std::filesystem::create_directories(place / "share/symport/experiments/tiny");
  std::filesystem::copy(SYMPORT_PROGRAM, place / "bin/symport");
  const std::string moved = (place / "bin/symport").string() + " reproduce nothing >" +
                            (desk.directory / "said") + " 2>&1";
  write_file(place / "share/symport/experiments/tiny/experiment.toml", "title = \"x\"\n");
  const std::string command = "cd " + desk.directory.path().string() + " && " + moved;
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(read_file(desk.directory.path() / "said"), HasSubstr("allowed is tiny"));
}

}  // namespace
}  // namespace symport::cli::testing
