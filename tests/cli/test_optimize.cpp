// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "tolerances.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

json optimize(Words words, int exit_code = 0) {
  words.insert(words.begin(), "optimize");
  words.push_back("--json");
  const Finished run = symport(words);
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  return json::parse(run.out);
}

const Words rosenbrock{"rosenbrock", "--start=-1,-1", "--steps", "1000", "--lr", "1e-3"};
const Words booth{"booth", "--start", "5,-5", "--steps", "10", "--lr", "0.08"};

// The numbers of the paper's settings.

TEST(Optimize, PlainDescentOnRosenbrockEndsWhereTheGoldenRunDoes) {
  const json run = optimize(rosenbrock);
  EXPECT_NEAR(run["final_loss"], 0.11134068265746125, 1e-12);
  EXPECT_NEAR(run["final_grad_sq"], 0.15994907795146393, 1e-12);
  EXPECT_NEAR(run["x"][0], 0.666707390057748, 1e-12);
  EXPECT_EQ(run["status"], "step_limit");
  EXPECT_EQ(run["steps"], 1000);
  EXPECT_TRUE(run["teleports"].empty());
}

// Teleports that paid at first and ruined the run later.
TEST(Optimize, ARunEndsNoHigherThanTheTeleportsItKept) {
  const std::vector<std::string> commands[] = {
      {"log(1+(x1*x2-2)^2)", "--symmetry", "scaling", "--start=-2.2397,1.6752", "--lr", "1e-2",
       "--steps", "1000", "--teleport", "every:7"},
      {"(x1*x2-1)^2", "--symmetry", "scaling", "--start", "2,3", "--optimizer", "adam", "--lr", "1",
       "--steps", "1000", "--teleport", "every:7"},
      {"completion:8,8,2,5,0.7", "--optimizer", "momentum", "--lr", "1", "--steps", "50", "--seed",
       "282175", "--teleport", "every:5"}};
  for (const auto& words : commands) {
    std::vector<std::string> all{"optimize"};
    all.insert(all.end(), words.begin(), words.end());
    all.emplace_back("--json");
    const Finished run = symport(all);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const json result = json::parse(run.out);
    EXPECT_FALSE(result["teleports"].empty());
    for (const json& teleport : result["teleports"]) {
      if (!teleport["accepted"]) continue;
      EXPECT_LE(result["final_loss"].get<double>(),
                1.0000001 * teleport["loss_before"].get<double>())
          << words.front() << " at step " << teleport["step"];
    }
  }
}

TEST(Optimize, DefaultsAreThePapersSettings) {
  EXPECT_EQ(optimize({"rosenbrock"})["final_loss"], optimize(rosenbrock)["final_loss"]);
  EXPECT_EQ(optimize({"booth"})["final_loss"], optimize(booth)["final_loss"]);
}

TEST(Optimize, PlainDescentOnBoothEndsAt2_2025) {
  EXPECT_NEAR(optimize(booth)["final_loss"], 2.2025, 5e-5);
}

TEST(Optimize, ScanOnRosenbrockReachesTheMinimum) {
  const json run = optimize(with(rosenbrock, {"--teleport", "every:100+99", "--search", "scan"}));
  EXPECT_LT(run["final_loss"], 1e-20);
  EXPECT_EQ(run["teleports"].size(), 10);
  for (const json& certificate : run["teleports"]) {
    EXPECT_LE(certificate["drift"], tolerance::drift_near_a_minimum);
    if (certificate["loss_before"] > 1e-6) {
      EXPECT_LE(certificate["relative_change"], tolerance::drift);
    }
  }
}

TEST(Optimize, ThePapersSearchOnRosenbrockIsBelowAMillionthInTheMedian) {
  std::vector<double> losses;
  for (int seed = 1; seed <= 21; ++seed) {
    losses.push_back(optimize(
        with(rosenbrock, {"--teleport", "every:100+99", "--search", "fixed", "--search-steps", "10",
                          "--search-rate", "0.1", "--seed", std::to_string(seed)}))["final_loss"]);
  }
  std::nth_element(losses.begin(), losses.begin() + 10, losses.end());
  EXPECT_LT(losses[10], 1e-6);
}

TEST(Optimize, BothSearchesOnBoothReachTwoThousandths) {
  EXPECT_LT(optimize(with(booth, {"--teleport", "4", "--search", "fixed", "--search-steps", "10",
                                  "--search-rate", "0.001"}))["final_loss"],
            2e-3);
  EXPECT_LT(optimize(with(booth, {"--teleport", "4", "--search", "scan"}))["final_loss"], 2e-3);
}

TEST(Optimize, ObjectiveDefaultsToThePapersForItsSearchAndToTheLibrarysElse) {
  const auto objective = [](const Words& words) { return optimize(words)["objective"]; };
  EXPECT_EQ(objective({"booth", "--teleport", "4", "--search", "fixed"}), "gradient_norm");
  EXPECT_EQ(objective({"booth", "--teleport", "4"}), "predicted_decrease");
  EXPECT_EQ(objective({"booth", "--teleport", "4", "--lr", "auto"}), "decrement");
}

TEST(Optimize, EveryFunctionOptimizerAndSearchThatFitsRuns) {
  for (const char* function :
       {"ellipse:3", "rosenbrock:2", "booth", "quadratic:4,10", "factorization:3,4,2"}) {
    EXPECT_FALSE(optimize({function, "--steps", "3", "--teleport", "1"})["teleports"].empty())
        << function;
  }
  for (const char* optimizer : {"gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw",
                                "newton", "prodigy", "shampoo", "soap"}) {
    EXPECT_EQ(optimize({"booth", "--optimizer", optimizer, "--steps", "5", "--lr", "0.01",
                        "--teleport", "2", "--state", "transport"})["optimizer"],
              optimizer);
  }
  EXPECT_EQ(optimize({"factorization:3,4,2", "--optimizer", "muon", "--steps", "5", "--teleport",
                      "2", "--state", "transport"})["optimizer"],
            "muon");
  for (const char* search : {"auto", "scan", "ascent", "fixed", "random"}) {
    EXPECT_EQ(
        optimize({"ellipse", "--teleport", "0", "--search", search, "--steps", "3"})["search"],
        search);
  }
  EXPECT_LT(optimize({"quadratic", "--teleport", "0", "--search", "closed"})["final_loss"], 1e-10);
}

TEST(Optimize, AutomaticRateWithTeleportSolvesAQuadraticInOneStep) {
  const json run =
      optimize({"quadratic:20,1e4", "--lr", "auto", "--teleport", "0", "--steps", "1"});
  EXPECT_LT(run["final_loss"], 1e-10);
  EXPECT_EQ(run["learning_rate"], "auto");
}

TEST(Optimize, RateMayBeASchedule) {
  const json run = optimize({"booth", "--lr", "cosine:0.08,10"});
  EXPECT_EQ(run["learning_rate"], "cosine:0.08,10");
  EXPECT_EQ(run["status"], "step_limit");
}

// What scripts rely on.

TEST(Optimize, JsonHasAllFieldsAndNothingElseStandsOnStdout) {
  const json run = optimize({"booth", "--teleport", "4", "--seed", "7"});
  for (const char* field :
       {"status", "final_loss", "final_grad_sq", "x", "steps", "teleports", "function", "optimizer",
        "learning_rate", "seed", "evaluations", "seconds", "version"}) {
    EXPECT_TRUE(run.contains(field)) << field;
  }
  EXPECT_EQ(run["function"], "booth");
  EXPECT_EQ(run["learning_rate"], 0.08);
  EXPECT_EQ(run["seed"], 7);
  const json certificate = run["teleports"].at(0);
  for (const char* field :
       {"step", "loss_before", "loss_after", "drift", "relative_change", "at_rounding_level",
        "grad_sq_before", "grad_sq_after", "curvature_before", "curvature_after", "condition",
        "evaluations", "seconds", "accepted", "reason"}) {
    EXPECT_TRUE(certificate.contains(field)) << field;
  }
  EXPECT_EQ(certificate["step"], 4);
  EXPECT_TRUE(certificate["accepted"].get<bool>());
}

TEST(Optimize, TextNamesTheResultAndEveryTeleport) {
  const Finished run = symport({"optimize", "booth", "--teleport", "4"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("final loss"));
  EXPECT_THAT(run.out, HasSubstr("1 of 1 accepted"));
  EXPECT_THAT(run.out, HasSubstr("global scan"));
  EXPECT_EQ(run.out.find('\033'), std::string::npos) << "colours without a terminal";
}

struct StartCase {
  Words words;
  std::vector<double> start;
};
class OptimizeStart : public ::testing::TestWithParam<StartCase> {};

TEST_P(OptimizeStart, IsReadAsPeopleTypeIt) {
  Words words{"rosenbrock", "--steps", "0"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  EXPECT_EQ(optimize(words)["x"].get<std::vector<double>>(), GetParam().start);
}

INSTANTIATE_TEST_SUITE_P(Forms, OptimizeStart,
                         ::testing::Values(StartCase{{"--start", "-1,-1"}, {-1, -1}},
                                           StartCase{{"--start=-1,-1"}, {-1, -1}},
                                           StartCase{{"--start", "-1.5e-3,+2"}, {-1.5e-3, 2}},
                                           StartCase{{"--start", "-1, -1"}, {-1, -1}},
                                           StartCase{{"--start", " 1 , 2 "}, {1, 2}},
                                           StartCase{{"--start=-.5,1."}, {-0.5, 1}},
                                           StartCase{{"--start", "-.5,.25"}, {-0.5, 0.25}},
                                           StartCase{{"--start", "0,-0.1", "--seed", "3"},
                                                     {0, -0.1}}));

TEST(Optimize, ZeroStepsLeavesTheStart) {
  const json run = optimize({"booth", "--steps", "0", "--teleport", "0"});
  EXPECT_EQ(run["steps"], 0);
  EXPECT_EQ(run["x"], json({5.0, -5.0}));
}

TEST(Optimize, WholeNumbersMayHaveAnExponent) {
  EXPECT_EQ(optimize({"booth", "--steps", "1e2"})["steps"], 100);
}

TEST(Optimize, TwoDashesEndTheOptions) {
  const Finished run = symport({"optimize", "--json", "--steps", "2", "--", "booth"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["function"], "booth");
}

TEST(Optimize, LargestSeedIsKept) {
  EXPECT_EQ(optimize({"booth", "--seed", "18446744073709551615"})["seed"], 18446744073709551615u);
}

TEST(Optimize, DivergenceIsExitOneWithTheStepAndNumbersThatJsonCanHold) {
  const Finished run = symport({"optimize", "booth", "--lr", "10", "--steps", "5000", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  const json result = json::parse(run.out);
  EXPECT_EQ(result["status"], "diverged");
  EXPECT_TRUE(result["final_loss"] == "inf" || result["final_loss"] == "nan" ||
              result["final_grad_sq"] == "inf")
      << run.out;
  EXPECT_LT(result["steps"], 5000);
  EXPECT_THAT(run.err, HasSubstr("diverged at step " + result["steps"].dump()));
}

TEST(Optimize, SaysWhichOptionsHaveNoEffectUnlessQuiet) {
  EXPECT_THAT(symport({"optimize", "booth", "--search", "scan"}).err,
              HasSubstr("--search has no effect without --teleport"));
  EXPECT_THAT(
      symport({"optimize", "booth", "--search", "fixed", "--teleport", "0", "--cap", "1"}).err,
      HasSubstr("--cap has no effect"));
  EXPECT_EQ(symport({"optimize", "booth", "--search", "scan", "--quiet"}).err, "");
}

}  // namespace
}  // namespace symport::cli::testing
