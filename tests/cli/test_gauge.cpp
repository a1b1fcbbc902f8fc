// SPDX-License-Identifier: MIT
// `symport teleport --gauge`, run as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "lab/data/tensor_values.hpp"
#include "lab/runs/gauge_teleport.hpp"
#include "symport/data/npz.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// A gated layer, down(silu(gate x) * up x), whose up and down can be rescaled by any s; float32.
struct Files {
  TemporaryDirectory directory;
  std::string weights = directory / "model.safetensors", gauge = directory / "gauge.json",
              out = directory / "out.safetensors";
  ArrayMap arrays{{"gate.weight", {{2, 2}, std::vector<float>{1, 2, 3, 4}}},
                  {"up.weight", {{2, 2}, std::vector<float>{8, 0, 0, 32}}},
                  {"down.weight", {{1, 2}, std::vector<float>{0.5f, 2}}}};

  Files() {
    lab::write_tensors(weights, lab::Safetensors::of(arrays));
    std::ofstream(gauge) << R"({"version": 1, "groups": [{"kind": "scale", "size": 2, "slots": [
      {"tensor": "up.weight", "axis": 0, "start": 0, "stop": 2, "repeat": 1, "rho": 1},
      {"tensor": "down.weight", "axis": 1, "start": 0, "stop": 2, "repeat": 1, "rho": -1}]}]})";
  }
  Words teleport(const Words& more = {}) const {
    Words words{"teleport", "--weights", weights, "--gauge", gauge, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST(TeleportGauge, BalancesAModelWithoutDataAndSaysSo) {
  const Files files;
  const Finished run = symport(files.teleport({"--objective", "balance"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json certificate = json::parse(run.out);
  EXPECT_TRUE(certificate["accepted"]);
  EXPECT_TRUE(certificate["bit_exact"]);
  EXPECT_TRUE(certificate["loss_before"].is_null());
  EXPECT_THAT(certificate["scope"].get<std::string>(), HasSubstr("no loss was evaluated"));
  // Units with norms 8 and 1/2, 32 and 2: scaled by 1/4 both.
  EXPECT_EQ(certificate["squared_norm_before"], 64.0 + 1024.0 + 0.25 + 4.0);
  EXPECT_EQ(certificate["squared_norm_after"], 4.0 + 64.0 + 4.0 + 64.0);
  ArrayMap expected = files.arrays;
  expected["up.weight"].values = std::vector<float>{2, 0, 0, 8};
  expected["down.weight"].values = std::vector<float>{2, 8};
  EXPECT_EQ(lab::arrays_of(lab::read_tensors(files.out)), expected);
}

TEST(TeleportGauge, ReadsAndWritesNumPyFiles) {
  const Files files;
  const std::string from = files.directory / "model.npz", to = files.directory / "out.npz";
  write_npz(from, files.arrays);
  const Finished run = symport(
      {"teleport", "--weights", from, "--gauge", files.gauge, "--out", to, "--scales", "any"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(std::get<std::vector<float>>(read_npz(to).at("up.weight").values),
            (std::vector<float>{2, 0, 0, 8}));
}

TEST(TeleportGauge, RefusesWhenThereIsNothingToGain) {
  const Files files;
  ASSERT_EQ(symport(files.teleport()).exit_code, 0);
  const std::string again = files.directory / "again.safetensors";
  const Finished run =
      symport({"teleport", "--weights", files.out, "--gauge", files.gauge, "--out", again});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_FALSE(json::parse(run.out)["accepted"]);
  EXPECT_THAT(run.err, HasSubstr("refused, nothing was written: no group moves"));
  EXPECT_FALSE(std::filesystem::exists(again));
}

TEST(TeleportGauge, SaysWhatIsWrongWithItsInput) {
  const Files files;
  const std::string damaged = files.directory / "damaged.safetensors",
                    other = files.directory / "other.json";
  std::ofstream(damaged) << "GGUF and more bytes";
  std::ofstream(other) << R"({"version": 1, "groups": [{"kind": "scale"}]})";
  const auto with = [&](const std::string& weights, const std::string& gauge, const Words& more) {
    Words words{"teleport", "--weights", weights, "--gauge", gauge, "--out", files.out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const struct {
    Words words;
    std::string message;
  } cases[] = {
      {with(damaged, files.gauge, {}), damaged + ": found a header of"},
      {with(files.directory / "none.safetensors", files.gauge, {}), "no such file"},
      {with(files.weights, files.directory / "none.json", {}), "no such file"},
      {with(files.weights, other, {}), other + ", group 0: found no key 'size'"},
      {with(files.directory / "model.bin", files.gauge, {}), ".safetensors or .npz"},
      {with(files.weights, files.gauge, {"--objective", "decrement"}), "balance, orthonormal"},
      {with(files.weights, files.gauge, {"--scales", "two"}), "powers-of-two, any"},
      {with(files.weights, files.gauge, {"--batch", "B.npz"}), "--batch: has no meaning with"},
      {with(files.weights, files.gauge, {"--lr", "1"}), "--lr: has no meaning with --gauge"},
      {{"teleport", "--weights", files.weights, "--gauge", files.gauge}, "--out: missing"},
      {{"teleport", "--gauge", files.gauge, "--out", files.out}, "--weights: missing"},
      {{"teleport", "--weights", "W.npz", "--batch", "B.npz", "--scales", "any", "--out", "V.npz"},
       "--scales: needs --gauge"},
      {{"teleport", "--weights", files.weights, "--gauge", files.gauge, "--out",
        files.directory / "out.pt"},
       ".safetensors or .npz"},
  };
  for (const auto& c : cases) {
    const Finished run = symport(c.words);
    EXPECT_EQ(run.exit_code, 2) << c.message << run.out;
    EXPECT_THAT(run.err, HasSubstr(c.message));
    EXPECT_FALSE(std::filesystem::exists(files.out));
  }
}

TEST(TeleportGauge, DoesNotReplaceAFileWithoutForce) {
  const Files files;
  ASSERT_EQ(symport(files.teleport()).exit_code, 0);
  EXPECT_EQ(symport(files.teleport()).exit_code, 2);
  EXPECT_EQ(symport(files.teleport({"--force"})).exit_code, 0);
}

}  // namespace
}  // namespace symport::cli::testing
