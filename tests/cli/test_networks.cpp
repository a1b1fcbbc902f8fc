// SPDX-License-Identifier: MIT
// `symport train` and `symport teleport`, run as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "symport/data/model_file.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/initialization.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// A small network and a batch for it, as files.
struct Files {
  TemporaryDirectory directory;
  std::string weights = directory / "W.npz", batch = directory / "B.npz", out = directory / "V.npz";

  explicit Files(Index samples = 4) {
    Random random(3);
    std::vector<LayerWeights<double>> layers;
    const std::vector<Index> widths{5, 6, 7, 3};
    for (std::size_t m = 1; m < widths.size(); ++m) {
      layers.push_back({random.normal_matrix(widths[m], widths[m - 1]), {}});
    }
    write_model(weights, layers);
    const SampleSet<> data =
        classification_data({.features = 5, .classes = 3, .samples = samples, .seed = 1});
    std::vector<std::int64_t> classes(data.classes.begin(), data.classes.end());
    write_npz(batch, {{"X", to_array<double>(Matrix(data.X.transpose()))},
                      {"y", Array{{samples}, classes}}});
  }
  /// With what a teleport needs, unless that is given.
  Words teleport(const Words& more) const {
    Words words{"teleport", "--weights", weights, "--batch", batch, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    for (const auto& [name, value] :
         {std::pair("--activation", "leaky_relu:0.1"), std::pair("--loss", "cross_entropy"),
          std::pair("--lr", "auto")}) {
      if (std::find(more.begin(), more.end(), name) != more.end()) continue;
      words.insert(words.end(), {name, value});
    }
    return words;
  }
};

TEST(Teleport, KeepsTheLossAndWritesTheWeights) {
  for (const Words& how :
       {Words{}, Words{"--symmetry", "gl"}, Words{"--symmetry", "gl", "--lr", "0.01"},
        Words{"--symmetry", "rescale", "--lr", "0.01"},
        Words{"--symmetry", "rescale", "--kappa", "2"},
        Words{"--symmetry", "rescale", "--activation", "relu", "--lr", "0.01"}}) {
    const Files files;
    const Finished run = symport(files.teleport(how));
    ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
    const json certificate = json::parse(run.out);
    EXPECT_TRUE(certificate["accepted"]);
    EXPECT_TRUE(certificate["loss_invariant"]);
    EXPECT_LE(certificate["drift"].get<double>(), 1e-10);
    const auto before = read_model<double>(files.weights), after = read_model<double>(files.out);
    ASSERT_EQ(after.size(), before.size());
    EXPECT_NE(after[1].W, before[1].W);
  }
}

// Maximising the gradient of a linear network without a bound ends at absurd weights. Whatever is
// accepted, the run goes on from the loss that it had.
TEST(Train, KeepsTheLossAtEveryAcceptedTeleportOfALinearNetwork) {
  const Words regression{"train", "--data", "regression", "--activation", "linear", "--json"};
  for (const Words& how :
       {Words{"--teleport", "0", "--objective", "gradient_norm", "--steps", "2"},
        Words{"--teleport", "0", "--objective", "gradient_norm", "--symmetry", "linear_gl",
              "--steps", "2"},
        Words{"--teleport", "every:5", "--symmetry", "linear_gl", "--lr", "auto", "--steps", "60"},
        Words{"--teleport", "every:5", "--symmetry", "linear_gl", "--lr", "auto", "--steps", "60",
              "--precision", "float"}}) {
    Words words = regression;
    words.insert(words.end(), how.begin(), how.end());
    const Finished run = symport(words);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const json result = json::parse(run.out);
    const bool single = how.back() == "float";
    for (const json& c : result["teleports"]) {
      const double before = c["loss_before"], after = c["loss_after"];
      EXPECT_DOUBLE_EQ(c["relative_change"], std::abs(after - before) / before);
      if (!c["accepted"].get<bool>()) continue;
      EXPECT_EQ(result["steps"].at(c["step"].get<std::size_t>())["train_loss"], after);
      const bool within = std::abs(after - before) <= (single ? 1e-4 : 1e-8) * before;
      EXPECT_TRUE(within || c["at_rounding_level"].get<bool>()) << c;
      EXPECT_LE(std::abs(after - before), 0.01 * before) << c;
    }
  }
}

TEST(Teleport, RefusesABatchThatCannotBeKeptWithItsNumbers) {
  const Files files(9);
  const Finished refused = symport(files.teleport({"--symmetry", "gl"}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("at most 5 samples here, and the batch has 9: 9 samples have "
                                     "rank 5 in the 5 input features"));
  EXPECT_FALSE(json::parse(refused.out)["accepted"]);
  EXPECT_FALSE(std::filesystem::exists(files.out));
}

TEST(Teleport, SaysWhatIsWrongWithItsInput) {
  const Files files;
  const struct {
    Words words;
    const char* message;
  } cases[] = {
      {{"teleport", "--batch", files.batch, "--out", files.out}, "--weights: missing"},
      {{"teleport", "--weights", files.batch, "--batch", files.batch, "--out", files.out,
        "--activation", "relu", "--loss", "cross_entropy", "--lr", "1"},
       "array W1"},
      {{"teleport", "--weights", files.weights, "--batch", files.weights, "--out", files.out,
        "--activation", "relu", "--loss", "cross_entropy", "--lr", "1"},
       "W1"},
      {files.teleport({"--symmetry", "glx"}), "did you mean 'gl'"},
      {files.teleport({"--symmetry", "gl", "--activation", "tanh"}),
       "--activation: the symmetry gl needs an activation with an inverse, and tanh has none"},
      {files.teleport({"--search", "scan"}), "--search: found 'scan', which does not fit"},
      {files.teleport({"--symmetry", "permutation", "--search", "closed"}), "does not fit"},
      {files.teleport({"--activation", "asinh", "--symmetry", "rescale"}), "asinh"},
      {files.teleport({"--symmetry", "gl", "--kappa", "2"}), "--kappa"},
      {files.teleport({"--lr", "-1"}), "--lr"},
      {files.teleport({"--loss", "mean_squares"}), "classes"},
      {files.teleport({"--precision", "half"}), "float, double"},
  };
  for (const auto& c : cases) {
    const Finished run = symport(c.words);
    EXPECT_EQ(run.exit_code, 2) << c.message;
    EXPECT_THAT(run.err, HasSubstr(c.message));
    EXPECT_EQ(run.out, "");
    EXPECT_FALSE(std::filesystem::exists(files.out));
  }
}

TEST(Teleport, DoesNotReplaceAFileWithoutForce) {
  const Files files;
  ASSERT_EQ(symport(files.teleport({})).exit_code, 0);
  EXPECT_EQ(symport(files.teleport({})).exit_code, 2);
  EXPECT_EQ(symport(files.teleport({"--force"})).exit_code, 0);
}

TEST(Train, RunsThePapersRegressionFasterWithATeleport) {
  const auto loss_at_50 = [](const Words& more) {
    Words words{"train", "--data", "regression", "--seed", "3", "--steps", "50", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = symport(words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const json result = json::parse(run.out);
    EXPECT_EQ(result["steps"].size(), 51u);
    EXPECT_EQ(result["status"], "step_limit");
    return result["steps"].back()["train_loss"].get<double>();
  };
  EXPECT_LT(loss_at_50({"--teleport", "5", "--symmetry", "gl"}), 0.5 * loss_at_50({}));
}

TEST(Train, RepeatsARunFromItsConfigurationByteForByte) {
  const TemporaryDirectory directory;
  const std::string first = directory / "first", second = directory / "second";
  ASSERT_EQ(symport({"train", "--data", "regression", "--seed", "7", "--steps", "40", "--lr",
                     "auto", "--teleport", "every:2", "--search-steps", "1", "--out", first})
                .exit_code,
            0);
  const Finished again =
      symport({"train", "--config", first + "/config.toml", "--out", second, "--quiet"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(first + "/model.npz"), read_file(second + "/model.npz"));
  EXPECT_EQ(read_file(first + "/config.toml"), read_file(second + "/config.toml"));
}

TEST(Train, TrainsOnMiniBatchesWithValidation) {
  const Files files(90);
  for (const char* precision : {"float", "double"}) {
    const Finished run =
        symport({"train",      "--data",       files.batch,   "--layers",   "5,8,3",
                 "--batch",    "10",           "--epochs",    "6",          "--lr",
                 "0.05",       "--validation", "20",          "--teleport", "1",
                 "--symmetry", "rescale",      "--precision", precision,    "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const json result = json::parse(run.out);
    ASSERT_EQ(result["epochs"].size(), 7u);  // entry 0 is before training
    EXPECT_LT(result["epochs"][6]["train_loss"].get<double>(),
              result["epochs"][0]["train_loss"].get<double>());
    EXPECT_GE(result["epochs"][6]["valid_accuracy"].get<double>(), 0.5);
    EXPECT_EQ(result["teleports"].size(), 4u);
  }
}

TEST(Train, MarksPaperModeAsNotLossInvariant) {
  const Finished run = symport({"train", "--data", "regression", "--steps", "6", "--teleport", "5",
                                "--symmetry", "paper", "--json"});
  const json result = json::parse(run.out);
  EXPECT_FALSE(result["loss_invariant"]);
  ASSERT_EQ(result["teleports"].size(), 1u);
  EXPECT_FALSE(result["teleports"][0]["loss_invariant"]);
  EXPECT_THAT(run.err, HasSubstr("not loss-invariant"));
}

TEST(Train, SaysWhatIsWrongWithItsInput) {
  const Files files(30);
  const struct {
    Words words;
    const char* message;
  } cases[] = {
      {{"train"}, "--data: missing"},
      {{"train", "--data", "nosuch.npz", "--layers", "5,3"}, "nosuch.npz"},
      {{"train", "--data", "regression", "--layers", "784,1000000,1000000,10"},
       "--layers: 1e+12 weights: training them in double takes at least 3.2e+04 GB, and there are"},
      {{"train", "--data", "regression", "--samples", "200000", "--layers", "5,1000000,3"},
       "--layers: 1e+06 units on 2e+05 samples at once: training them in double takes at least"},
      {{"train", "--data", files.batch, "--layers", "4,3"}, "--data"},
      {{"train", "--data", files.batch, "--layers", "5,0,3"}, "--layers"},
      {{"train", "--data", files.batch, "--layers", "5,3", "--steps", "5", "--batch", "10"},
       "--steps"},
      {{"train", "--data", files.batch, "--layers", "5,3", "--validation", "30"}, "--validation"},
      {{"train", "--data", "regression", "--lr", "auto", "--optimizer", "adam"}, "--lr"},
      {{"train", "--data", "regression", "--teleport", "x"}, "--teleport"},
      {{"train", "--data", "regression", "--teleport", "5", "--symmetry", "gl", "--state",
        "transport"},
       "--state"},
      {{"train", "--data", "regression", "--teleport", "5", "--activation", "sigmoid"}, "sigmoid"},
      {{"train", "--data", "regression", "--optimiser", "gd"}, "did you mean"},
  };
  for (const auto& c : cases) {
    const Finished run = symport(c.words);
    EXPECT_EQ(run.exit_code, 2) << c.message;
    EXPECT_THAT(run.err, HasSubstr(c.message));
    EXPECT_EQ(run.out, "");
  }
}

}  // namespace
}  // namespace symport::cli::testing
