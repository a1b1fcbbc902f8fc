// SPDX-License-Identifier: MIT
// The optimizers that find their own steps, and teleports without a symmetry, from the command
// line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

json run_json(Words words) {
  words.push_back("--json");
  const Finished run = symport(words);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return json::parse(run.out);
}

std::string refusal(const Words& words) {
  const Finished run = symport(words);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  return run.err;
}

TEST(Baselines, NeedNoLearningRateOnFunctions) {
  for (const char* name : {"lbfgs", "lm", "natural_gradient"}) {
    const json run = run_json({"optimize", "rosenbrock", "--optimizer", name, "--steps", "60"});
    EXPECT_LE(run["final_loss"], 1e-10) << name;
  }
  const json plain = run_json({"optimize", "booth", "--steps", "30", "--optimizer", "line_search"});
  EXPECT_LE(plain["final_loss"], 1e-10);
}

TEST(Baselines, NeedNoLearningRateOnTheRegression) {
  for (const char* name : {"lbfgs", "lm", "natural_gradient", "line_search"}) {
    const json run =
        run_json({"train", "--data", "regression", "--optimizer", name, "--steps", "30"});
    const json& steps = run["steps"];
    EXPECT_LE(steps.back()["train_loss"], 1e-2 * steps.front()["train_loss"].get<double>()) << name;
  }
}

TEST(Baselines, SayWhatTheyCannotDo) {
  EXPECT_THAT(refusal({"optimize", "booth", "--optimizer", "lbfgs", "--lr", "0.1"}),
              HasSubstr("lbfgs finds its own steps"));
  EXPECT_THAT(refusal({"train", "--data", "regression", "--optimizer", "lbfgs", "--batch", "2"}),
              HasSubstr("'lbfgs', which needs full batches (--batch full)"));
  EXPECT_THAT(refusal({"optimize", "booth", "--optimizer", "lbfgs", "--round-trip"}),
              HasSubstr("'lbfgs' takes no metric round trips"));
  EXPECT_THAT(refusal({"optimize", "booth", "--optimizer", "muon"}), HasSubstr("one for matrices"));
  EXPECT_THAT(refusal({"optimize", "x1^2+x2^4", "--start", "1,1", "--optimizer", "lm"}),
              HasSubstr("a sum of squares"));
  EXPECT_THAT(refusal({"optimize", "booth", "--teleport", "0", "--symmetry", "rotation"}),
              HasSubstr("except level_set"));
}

TEST(Baselines, OfMatricesTrainNetworks) {
  for (const char* optimizer : {"muon", "soap"}) {
    const json run = run_json(
        {"train", "--data", "spirals", "--optimizer", optimizer, "--epochs", "3", "--batch", "50"});
    EXPECT_EQ(run["optimizer"], optimizer);
    EXPECT_EQ(run["learning_rate"], *optimizer == 'm' ? "0.02" : "0.003");
  }
}

TEST(Baselines, AreComparedWithoutTuning) {
  const json result =
      run_json({"compare", "booth", "--method", "lbfgs", "--method", "lm", "--method",
                "gd+level_set:every:5", "--budget", "60evals", "--seeds", "3", "--lr", "0.05"});
  const std::string text = result.dump();
  EXPECT_THAT(text, HasSubstr("\"lbfgs\""));
  EXPECT_THAT(text, HasSubstr("auto"));
}

TEST(Baselines, LbfgsResumesToTheSameBytes) {
  const TemporaryDirectory directory;
  const std::string whole = directory / "whole", cut = directory / "cut";
  const Words words{"train",   "--data", "regression",         "--optimizer", "lbfgs",
                    "--steps", "40",     "--checkpoint-every", "15",          "--quiet"};
  for (const std::string& out : {whole, cut}) {
    Words all = words;
    all.insert(all.end(), {"--out", out});
    const Finished run = symport(all);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  // Without its newest checkpoint a run goes on from the one before.
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(cut + "/checkpoint")) {
    if (newest.empty() || entry.last_write_time() > fs::last_write_time(newest)) {
      newest = entry.path();
    }
  }
  fs::remove(newest);
  fs::remove(cut + "/model.npz");
  const Finished resumed = symport({"train", "--resume", cut, "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_file(cut + "/model.npz"), read_file(whole + "/model.npz"));
}

TEST(LevelSets, TeleportFunctionsFormulasAndNetworks) {
  for (const Words& words :
       {Words{"optimize", "booth", "--teleport", "0", "--symmetry", "level_set"},
        Words{"optimize", "x1^2+3*x2^4", "--start", "2,1", "--teleport", "0", "--symmetry",
              "level_set", "--lr", "0.01"},
        Words{"train", "--data", "regression", "--steps", "10", "--teleport", "5", "--symmetry",
              "level_set"}}) {
    const json run = run_json(words);
    ASSERT_EQ(run["teleports"].size(), 1u);
    const json& teleport = run["teleports"][0];
    EXPECT_TRUE(teleport["accepted"]) << teleport;
    EXPECT_LE(teleport["loss_after"], teleport["loss_before"]);
    EXPECT_LE(teleport["drift"], 1e-8);
  }
}

}  // namespace
}  // namespace symport::cli::testing
