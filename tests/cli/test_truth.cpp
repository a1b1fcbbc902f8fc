// SPDX-License-Identifier: MIT
// What the program says about a teleport or a run is what happened, on all data that it speaks of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "symport/core/random.hpp"
#include "symport/data/model_file.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// X and Y of samples x 6 features and 1 output, noisy and nearly linear.
void write_regression(const std::string& file, Index samples, std::uint64_t seed = 5) {
  Random random(seed);
  const Matrix X = random.normal_matrix(6, samples), a = random.normal_matrix(1, 6);
  const Matrix Y = a * X + 0.1 * random.normal_matrix(1, samples);
  write_npz(file, {{"X", to_array<double>(Matrix(X.transpose()))},
                   {"Y", to_array<double>(Matrix(Y.transpose()))}});
}

struct Files {
  TemporaryDirectory directory;
  std::string weights = directory / "W.npz", batch = directory / "B.npz",
              other = directory / "other.npz", out = directory / "V.npz";

  explicit Files(Index samples = 6) {
    Random random(3);
    std::vector<LayerWeights<double>> layers;
    const std::vector<Index> widths{6, 8, 8, 1};
    for (std::size_t m = 1; m < widths.size(); ++m) {
      layers.push_back({random.normal_matrix(widths[m], widths[m - 1]), {}});
    }
    write_model(weights, layers);
    write_regression(batch, samples);
    write_regression(other, 100, 6);
  }
  Finished teleport(const Words& more) const {
    Words words{"teleport", "--weights", weights, "--batch", batch, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return symport(words);
  }
};

TEST(Scope, IsInTheCertificateAndOnTheTerminal) {
  const Files files;
  const Words how{"--activation", "leaky_relu:0.1", "--loss",  "mean_squares",
                  "--lr",         "1e-3",           "--check", files.other};
  Words gl = how;
  gl.insert(gl.end(), {"--symmetry", "gl"});
  const Finished bound = files.teleport(gl);
  ASSERT_EQ(bound.exit_code, 0) << bound.err;
  json c = json::parse(bound.out);
  EXPECT_EQ(c["scope"]["text"], "the loss is kept on 6 of 6 samples");
  EXPECT_EQ(c["scope"]["data"], "batch");
  EXPECT_THAT(bound.err, HasSubstr("the loss is kept on 6 of 6 samples only"));
  // Elsewhere it is not.
  EXPECT_EQ(c["check"]["samples"], 100);
  const double before = c["check"]["loss_before"], after = c["check"]["loss_after"];
  EXPECT_GT(std::abs(after - before), 1e-6 * before);
  EXPECT_THAT(bound.err, HasSubstr("on the 100 of --check it goes from"));

  std::filesystem::remove(files.out);
  const Finished everywhere = files.teleport(how);  // rescaling is the default
  ASSERT_EQ(everywhere.exit_code, 0) << everywhere.err;
  c = json::parse(everywhere.out);
  EXPECT_EQ(c["symmetry"], "rescale");
  EXPECT_EQ(c["scope"]["text"], "the loss is kept on all data");
  EXPECT_NEAR(c["check"]["loss_after"], c["check"]["loss_before"].get<double>(), 1e-10);
  EXPECT_EQ(everywhere.err, "");
}

// Six samples have rank 6 in the first layer; the seventh and all others would pay.
TEST(Scope, APartOfABatchIsNeverKeptAtTheExpenseOfTheWhole) {
  std::size_t accepted = 0, refused = 0;
  for (const char* rate : {"1e-4", "1e-2", "auto"}) {
    for (const Index samples : {8, 20, 60}) {
      const Files files(samples);
      const Finished run =
          files.teleport({"--activation", "leaky_relu:0.1", "--loss", "mean_squares", "--lr", rate,
                          "--symmetry", "gl", "--allow-partial-batch"});
      const json c = json::parse(run.out);
      if (run.exit_code == 1) {
        ++refused;
        EXPECT_FALSE(std::filesystem::exists(files.out));
        continue;
      }
      ++accepted;
      EXPECT_EQ(c["scope"]["samples"], 6);
      EXPECT_EQ(c["scope"]["of"], samples);
      EXPECT_LE(c["scope"]["check"]["loss_after"].get<double>(),
                c["scope"]["check"]["loss_before"].get<double>() * (1 + 1e-8));
    }
  }
  EXPECT_EQ(accepted + refused, 9u);
  EXPECT_GT(refused, 0u);
}

TEST(Scope, TrainingSaysItInEveryForm) {
  const Files files(200);
  const Words words{
      "train",    "--data",     files.batch, "--layers", "6,16,16,1", "--lr",         "0.01",
      "--epochs", "3",          "--batch",   "6",        "--loss",    "mean_squares", "--teleport",
      "1",        "--symmetry", "gl",        "--seed",   "2",         "--rehearsal",  "0"};
  Words as_json = words;
  as_json.push_back("--json");
  const json result = json::parse(symport(as_json).out);
  std::size_t accepted = 0;
  for (const json& c : result["teleports"]) {
    if (!c["accepted"].get<bool>()) continue;
    ++accepted;
    EXPECT_EQ(c["scope"]["text"], "the loss is kept on 6 of 200 samples");
    EXPECT_EQ(c["scope"]["check"]["samples"], 200);
    EXPECT_NE(c["scope"]["check"]["loss_after"], c["scope"]["check"]["loss_before"]);
  }
  ASSERT_GT(accepted, 0u);
  EXPECT_THAT(symport(words).out, HasSubstr("kept on 6 of 200 samples only"));
  Words paged = words;
  const std::string page = files.directory / "page.html";
  paged.insert(paged.end(), {"--report", page});
  ASSERT_EQ(symport(paged).exit_code, 0);
  EXPECT_THAT(read_file(page), HasSubstr("on 6 of 200 samples"));
}

// With batches of 6, teleports that only knew their batch made half of these runs diverge.
TEST(Scope, BatchBoundTeleportsDoNotMakeRunsDiverge) {
  const Files files(200);
  for (int seed = 0; seed < 6; ++seed) {
    for (const char* symmetry : {"", "gl"}) {
      Words words{"train",
                  "--data",
                  files.batch,
                  "--layers",
                  "6,16,16,1",
                  "--lr",
                  "0.01",
                  "--epochs",
                  "6",
                  "--batch",
                  "6",
                  "--teleport",
                  "1",
                  "--loss",
                  "mean_squares",
                  "--seed",
                  std::to_string(seed),
                  "--json"};
      Words plain = words;
      plain[12] = "never";
      if (*symmetry) words.insert(words.end(), {"--symmetry", symmetry});
      const json result = json::parse(symport(words).out);
      EXPECT_EQ(result["status"], "step_limit") << seed << symmetry;
      const json without = json::parse(symport(plain).out);
      EXPECT_LE(result["final_loss"].get<double>(), 2.0 * without["final_loss"].get<double>())
          << seed << symmetry;
    }
  }
}

TEST(Teleport, AsksForActivationLossAndRate) {
  const Files files;
  const Words all{"--activation", "relu", "--loss", "mean_squares", "--lr", "1e-3"};
  for (std::size_t left_out = 0; left_out < all.size(); left_out += 2) {
    Words words = all;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(left_out),
                words.begin() + static_cast<std::ptrdiff_t>(left_out) + 2);
    const Finished run = files.teleport(words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(all[left_out] + ": missing"));
    EXPECT_FALSE(std::filesystem::exists(files.out));
  }
  const Finished run = files.teleport(all);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json c = json::parse(run.out);
  EXPECT_EQ(c["activation"], "relu");
  EXPECT_EQ(c["loss"], "mean_squares:mean");
  EXPECT_EQ(c["learning_rate"], "0.001");
  EXPECT_THAT(c["note"].get<std::string>(), HasSubstr("compare loss_before with the loss"));
}

TEST(Teleport, TakesActivationAndLossFromTheFileOfARun) {
  const Files files;
  const std::string run_directory = files.directory / "run";
  ASSERT_EQ(symport({"train", "--data", files.batch, "--layers", "6,8,1", "--activation", "relu",
                     "--loss", "mean_squares", "--steps", "3", "--out", run_directory})
                .exit_code,
            0);
  const std::string model = run_directory + "/model.npz";
  const Words from{"teleport", "--weights", model,     "--batch", files.batch,
                   "--lr",     "1e-3",      "--force", "--out",   files.out};
  const Finished run = symport(from);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json c = json::parse(run.out);
  EXPECT_EQ(c["activation"], "relu");
  EXPECT_EQ(c["loss"], "mean_squares:mean");
  const json summary = json::parse(read_file(run_directory + "/summary.json"));
  EXPECT_NEAR(c["loss_before"], summary["final_loss"].get<double>(), 1e-12);
  Words other = from;
  other.insert(other.end(), {"--activation", "leaky_relu"});
  const Finished refused = symport(other);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("are of a network with relu"));
  const Words train{"train", "--data", files.batch, "--weights", model, "--steps", "0"};
  const Finished same = symport(train);
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("is assumed")));
  Words wrong = train;
  wrong.insert(wrong.end(), {"--activation", "leaky_relu"});
  EXPECT_EQ(symport(wrong).exit_code, 2);
  EXPECT_THAT(symport(wrong).err, HasSubstr("are of a network with relu"));
}

TEST(Train, SaysWhichActivationItAssumesOfWeightsThatNameNone) {
  const Files files;
  const Finished run =
      symport({"train", "--data", files.batch, "--weights", files.weights, "--steps", "0"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("does not name its activation; leaky_relu:0.1 is assumed"));
}

TEST(Diverged, MeansTheSameEverywhere) {
  const Files files(60);
  const std::string run_directory = files.directory / "run";
  const Words words{"train",   "--data", files.batch, "--layers", "6,8,1",  "--lr",        "50",
                    "--batch", "6",      "--epochs",  "5",        "--loss", "mean_squares"};
  Words kept = words;
  kept.insert(kept.end(), {"--json", "--out", run_directory});
  const json result = json::parse(symport(kept).out);
  EXPECT_EQ(result["status"], "diverged");
  EXPECT_TRUE(result["final_loss"].is_string()) << result["final_loss"];  // "inf" or "nan"
  EXPECT_TRUE(result["epochs"].back()["train_loss"].is_string());
  EXPECT_THAT(symport(words).out, HasSubstr("diverged at step"));
  const std::string page = files.directory / "page.html";
  ASSERT_EQ(symport({"report", run_directory, "--out", page}).exit_code, 0);
  EXPECT_THAT(read_file(page), HasSubstr("diverged"));
  const Finished function = symport({"optimize", "booth", "--lr", "10", "--steps", "2000"});
  EXPECT_THAT(function.out, HasSubstr("final loss    diverged"));
}

}  // namespace
}  // namespace symport::cli::testing
