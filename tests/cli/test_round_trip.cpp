// SPDX-License-Identifier: MIT
// `--round-trip` and `--evaluate-every`, as a user types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "symport/data/npz.hpp"
#include "symport/data/synthetic.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// A small classification as a file.
struct Blobs {
  TemporaryDirectory directory;
  std::string file = directory / "blobs.npz";

  Blobs() {
    const SampleSet<> data =
        classification_data({.features = 6, .classes = 3, .samples = 90, .spread = 0.6, .seed = 4});
    write_npz(
        file,
        {{"X", to_array<double>(Matrix(data.X.transpose()))},
         {"y", Array{{90}, std::vector<std::int64_t>(data.classes.begin(), data.classes.end())}}});
  }
  Words train(const Words& more) const {
    Words words{"train", "--data", file, "--layers", "6,12,8,3", "--validation", "18"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

json result_of(Words words) {
  words.push_back("--json");
  const Finished run = symport(words);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.exit_code == 0 ? json::parse(run.out) : json();
}

TEST(RoundTripOption, BeatsPlainStepsWithoutARate) {
  const Blobs blobs;
  const auto loss = [&](const Words& how) {
    Words words = blobs.train({"--batch", "12", "--epochs", "3"});
    words.insert(words.end(), how.begin(), how.end());
    return result_of(words)["final_loss"].get<double>();
  };
  const double plain = loss({"--lr", "0.1"});
  for (const Words& how :
       {Words{"--round-trip"}, Words{"--round-trip", "metric"}, Words{"--round-trip=metric"},
        Words{"--round-trip", "metric", "--optimizer", "momentum"},
        Words{"--round-trip", "--precision", "float", "--damping", "0.3"}}) {
    EXPECT_LT(loss(how), plain) << ::testing::PrintToString(how);
  }
}

// The optimizer's own rate stays, and so does what it means.
TEST(RoundTripOption, LeavesTheRateOfOtherOptimizersAsItIs) {
  const Blobs blobs;
  for (const char* name : {"momentum", "adam", "adamw"}) {
    const Words plain =
        blobs.train({"--batch", "12", "--epochs", "3", "--optimizer", name, "--round-trip"});
    const json run = result_of(plain);
    const json without = result_of(Words(plain.begin(), plain.end() - 1));
    EXPECT_EQ(run["learning_rate"], without["learning_rate"]) << name;
    EXPECT_EQ(run["evaluations"], without["evaluations"]) << name;
    EXPECT_NE(run["final_loss"], without["final_loss"]) << name;
    EXPECT_LT(run["final_loss"].get<double>(), 1.1 * without["final_loss"].get<double>()) << name;
  }
}

TEST(RoundTripOption, IsPartOfTheConfigurationAndOfACheckpoint) {
  const Blobs blobs;
  const std::string whole = blobs.directory / "whole", parts = blobs.directory / "parts";
  const Words how{"--batch",   "12", "--round-trip", "--power",  "0.25",
                  "--refresh", "4",  "--optimizer",  "momentum", "--out"};
  const auto run = [&](const std::string& out, const std::string& epochs) {
    Words words = blobs.train(how);
    words.insert(words.end(), {out, "--epochs", epochs, "--quiet"});
    const Finished finished = symport(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
  };
  run(whole, "4");
  const std::string config = read_file(whole + "/config.toml");
  for (const char* line :
       {"\nround-trip = \"kept\"\n", "\npower = 0.25\n", "\nrefresh = 4\n", "\ndamping = 0.1\n"}) {
    EXPECT_THAT(config, HasSubstr(line));
  }
  run(parts, "2");
  const Finished rest = symport({"train", "--resume", parts, "--epochs", "4", "--quiet"});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(read_file(parts + "/model.npz"), read_file(whole + "/model.npz"));
}

TEST(RoundTripOption, SolvesFactorisationsOfAnyCondition) {
  for (const char* condition : {"1", "1000", "10000"}) {
    const json run = result_of({"optimize", "--round-trip", "--steps", "60",
                                std::string("factorization:200,100,10,") + condition});
    EXPECT_LT(run["final_loss"].get<double>(), 1e-9) << condition;
    EXPECT_EQ(run["learning_rate"], 0.25);
  }
  const json measured = result_of(
      {"optimize", "factorization:40,30,5,1000", "--round-trip", "--lr", "auto", "--steps", "60"});
  EXPECT_LT(measured["final_loss"].get<double>(), 1e-9);
}

TEST(RoundTripOption, IsAMethodOfAComparison) {
  const Finished run =
      symport({"compare", "factorization:20,15,3,100", "--method", "gd+round-trip", "--method",
               "gd:lr=0.25+round-trip:damping=0.001", "--budget", "500evals", "--seeds", "3",
               "--tuning-seeds", "1", "--grid", "0.01..1:2", "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = json::parse(run.out);
  int reached = 0;
  for (const json& method : result["problems"][0]["methods"]) {
    if (method["method"].get<std::string>().find("round-trip") == std::string::npos) continue;
    reached += method["reached"].get<int>();
  }
  EXPECT_EQ(reached, 6);
}

TEST(RoundTripOption, SaysWhatDoesNotFit) {
  const Blobs blobs;
  const auto refused = [](const Words& words, const std::string& message) {
    const Finished run = symport(words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(message));
  };
  refused(blobs.train({"--damping", "0.1"}), "--damping: needs --round-trip");
  refused(blobs.train({"--round-trip", "--refresh", "3"}), "--refresh: needs --round-trip kept");
  refused(blobs.train({"--round-trip=first"}),
          "--round-trip: found 'first', allowed is kept, metric, usual");
  refused(blobs.train({"--round-trip", "--optimizer", "newton"}), "--optimizer: 'newton' takes no");
  refused(blobs.train({"--round-trip", "metric", "--optimizer", "adam"}),
          "--optimizer: found 'adam' with metric round trips");
  refused(blobs.train({"--round-trip", "kept", "--power", "2"}), "--power: ");
  refused(blobs.train({"--round-trip", "--teleport", "1"}),
          "--teleport: cannot be combined with --round-trip");
  refused({"optimize", "factorization", "--round-trip", "kept"}, "--round-trip: needs a network");
  refused({"optimize", "rosenbrock", "--round-trip"}, "--round-trip: ");
  refused({"optimize", "factorization:4,3,4,10"}, "found rank 4, allowed is a rank from 1 to 3");
  refused(blobs.train({"--evaluate-every", "3"}), "--evaluate-every: needs mini-batches");
}

TEST(EvaluateEvery, AddsRowsWithinAnEpoch) {
  const Blobs blobs;
  const json run = result_of(
      blobs.train({"--batch", "12", "--epochs", "2", "--lr", "0.1", "--evaluate-every", "4"}));
  std::vector<int> steps;
  for (const json& row : run["steps"]) steps.push_back(row["step"].get<int>());
  EXPECT_EQ(steps, (std::vector<int>{0, 4, 6, 8, 12}));  // 72 samples in 6 batches
  const json epochs = result_of(blobs.train({"--batch", "12", "--epochs", "2", "--lr", "0.1"}));
  EXPECT_EQ(run["steps"][2]["train_loss"], epochs["epochs"][1]["train_loss"]);
  EXPECT_EQ(run["final_loss"], epochs["final_loss"]);
}

}  // namespace
}  // namespace symport::cli::testing
